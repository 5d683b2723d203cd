import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentsSinkType } from '../../../docs/examples/documents-sink.js';
import { Secret } from '../../../config/secret.js';
import { subjectOf } from '../../../sinks/plan-of.test-kit.js';
import { sampleChange } from '../../../sinks/sample-change.test-kit.js';
import type { Subject } from '../../../sinks/sink.js';
import type { DoubleAnswer, DoubleRequest } from '../../../sandbox/serve/double-request.js';
import type { FaultEffect } from '../../../sandbox/serve/faults.js';
import { serveDouble } from '../../../sandbox/serve/serve-double.js';
import { PERSONAL_DATA } from './generated-changes.js';
import type { StateDestination } from './state-destination.js';
import { describeStateSink } from './state-sink-conformance.js';
import { environmentOf } from '../../../sinks/sink-environment.test-kit.js';

/* Applies the suite of all sinks to the example of docs/writing-a-sink.md, with the store that it describes. */

const token = 'documents-t0ken';

/** A store of documents by id. Refuses documents that contain "poison". */
class DocumentStore {
  readonly documents = new Map<string, unknown>();

  answer({ method, path, headers, body }: DoubleRequest): DoubleAnswer {
    if (headers['authorization'] !== `Bearer ${token}`) return { status: 401 };
    const id = decodeURIComponent(/^\/people\/([^/]+)$/.exec(path)?.[1] ?? '');
    if (id === '') return { status: 404, json: { message: 'no such path' } };
    switch (method) {
      case 'PUT': {
        if (body.includes('poison')) return { status: 422, json: { message: `${body} is not taken` } };
        this.documents.set(id, JSON.parse(body));
        return { status: 200, json: { id } };
      }
      case 'DELETE':
        return { status: this.documents.delete(id) ? 204 : 404 };
      default:
        return this.documents.has(id) ? { status: 200, json: this.documents.get(id) } : { status: 404 };
    }
  }
}

const effects: Readonly<Record<string, FaultEffect>> = {
  'answer-lost': { kind: 'dropAfter' },
  'never-arrives': { kind: 'dropBefore' },
  'error-after': { kind: 'answerAfter', answer: { status: 502, text: 'bad gateway' } },
  auth: { kind: 'answer', answer: { status: 401, text: PERSONAL_DATA[0]! } },
  overload: { kind: 'answer', answer: { status: 429, headers: { 'retry-after': '7' } } },
  outage: { kind: 'answer', answer: { status: 503, text: 'down' } },
  cut: { kind: 'dropBefore' },
};

async function startStore(): Promise<StateDestination & { readonly store: DocumentStore }> {
  const store = new DocumentStore();
  const double = await serveDouble(
    {
      answer: (request) => store.answer(request),
      state: () => [...store.documents],
    },
    {},
  );
  const document = 'item.Name = "gone" ? undefined : { "name": item.Name, "said": item.said, "in": session.name }';
  const keys = { baseUrl: `${double.url}/people`, token: new Secret(token), document };
  return {
    store,
    open: () => documentsSinkType.create(documentsSinkType.configSchema.parse(keys), environmentOf('index')),
    state: () => [...store.documents].toSorted(([one], [other]) => (one < other ? -1 : 1)),
    requests: () => double.requests.length,
    fail: (how, skip) => double.faults.add({ effect: effects[how]!, skip }),
    begin: (refusal) => double.faults.add({ effect: effects[refusal]!, times: 1_000_000 }),
    repair: () => double.faults.clear(),
    secrets: [token],
    close: () => double.close(),
  };
}

function person(key: string, data: Record<string, unknown> | null): Subject {
  const change = sampleChange({ id: `change ${key}`, list: 'attendees', key, data });
  return subjectOf(change, { session: { name: 'Keynote' } });
}

const people = (said: string): Subject[] =>
  ['1', '2', '3', 'ä/../?4'].map((key) => person(key, { Name: PERSONAL_DATA[0], said }));

describeStateSink('documents', {
  start: startStore,
  story: () => people('hello'),
  edited: () => people('goodbye'),
  poison: () => person('5', { Name: PERSONAL_DATA[0], said: 'poison' }),
  isFoundAgain: () => true,
  overloadAsksMs: 7000,
});

describe('the example sink of the documentation', () => {
  it('removes the document of a deleted item, and of an item that must no longer be stored', async () => {
    const destination = await startStore();
    const sink = destination.open();
    const lane = { workspace: 'acme', pigeonholeId: 101, ledgerId: 'l', memory: {}, remember: () => Promise.resolve() };
    const send = async (subjects: readonly Subject[]): Promise<string[]> => {
      const planned = await sink.plan(subjects);
      const operations = planned.flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
      return (await sink.send(operations, lane, new AbortController().signal)).outcomes.map(({ kind }) => kind);
    };
    await send(people('hello').slice(0, 3));
    expect(await send([person('1', null), person('2', { Name: 'gone' })])).toEqual(['delivered', 'delivered']);
    expect([...destination.store.documents.keys()]).toEqual(['acme.101.attendees.3']);
    expect(await send([person('1', null)])).toEqual(['delivered']); // a repeat
    await sink.close();
    await destination.close();
  });

  it('has fewer than a hundred lines', () => {
    const source = readFileSync(join(__dirname, '../../../docs/examples/documents-sink.ts'), 'utf8');
    expect(source.trimEnd().split('\n').length).toBeLessThan(100);
  });
});
