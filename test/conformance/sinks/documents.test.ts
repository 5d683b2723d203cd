import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentsSinkType } from '../../../docs/examples/documents-sink.js';
import { Secret } from '../../../config/secret.js';
import { subjectOf } from '../../../sinks/plan-of.test-kit.js';
import { sampleChange } from '../../../sinks/sample-change.test-kit.js';
import type { Fields, Outcome, Sink, Subject } from '../../../sinks/sink.js';
import type { DoubleAnswer, DoubleRequest } from '../../../sandbox/serve/double-request.js';
import type { FaultEffect } from '../../../sandbox/serve/faults.js';
import { serveDouble } from '../../../sandbox/serve/serve-double.js';
import { PERSONAL_DATA } from './generated-changes.js';
import type { StateDestination } from './state-destination.js';
import { describeStateSink } from './state-sink-conformance.js';
import { expressionsIn } from '../../../sinks/mapping/expression-schema.js';
import { environmentOf, laneOf } from '../../../sinks/sink-environment.test-kit.js';

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
        if (body.includes('locked')) return { status: 423, json: { message: 'locked' } };
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

type DocumentsConfig = Parameters<typeof documentsSinkType.create>[0];

async function startStore(): Promise<
  StateDestination & { readonly store: DocumentStore; readonly config: DocumentsConfig }
> {
  const store = new DocumentStore();
  const double = await serveDouble(
    {
      answer: (request) => store.answer(request),
      state: () => [...store.documents],
    },
    {},
  );
  const document = '{ "said": item.said, "in": session.name }';
  const keys = { baseUrl: `${double.url}/people`, token: new Secret(token), owner: 'item.Name', document };
  const config = documentsSinkType.configSchema.parse(keys);
  return {
    store,
    config,
    open: () => documentsSinkType.create(config, environmentOf('index')),
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
  type: documentsSinkType,
  start: startStore,
  story: () => people('hello'),
  edited: () => people('goodbye'),
  poison: () => person('5', { Name: PERSONAL_DATA[0], said: 'poison' }),
  isFoundAgain: () => true,
  overloadAsksMs: 7000,
});

describe('the example sink of the documentation', () => {
  const send = async (sink: Sink, subjects: readonly Subject[]): Promise<Outcome[]> => {
    const planned = await sink.plan(subjects);
    const operations = planned.flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
    return [...(await sink.send(operations, laneOf(), new AbortController().signal)).outcomes];
  };

  it('removes the document of a deleted item, and of an item whose owner is no longer known', async () => {
    const destination = await startStore();
    const sink = destination.open();
    const [first] = await send(sink, people('hello').slice(0, 3));
    const { object } = first as { object: Fields };
    const anonymous = { ...person('2', { said: 'hello' }), object };
    expect(await send(sink, [person('1', null), anonymous])).toEqual([
      expect.objectContaining({ kind: 'delivered', object: null }),
      expect.objectContaining({ kind: 'delivered', object: null }),
    ]);
    expect([...destination.store.documents.keys()]).toEqual(['acme.101.attendees.3']);
    expect(await send(sink, [person('1', null)])).toMatchObject([{ kind: 'delivered' }]); // a repeat
    await sink.close();
    await destination.close();
  });

  it('withholds an item without an owner, and names the key that should have supplied one', async () => {
    const destination = await startStore();
    const sink = destination.open();
    const [planned] = await sink.plan([person('1', { said: 'hello' })]);
    expect(planned).toEqual({ kind: 'nothing', reason: 'no-owner' });
    expect(documentsSinkType.reasons['no-owner']!.kind).toBe('missing-value');
    const { keys } = documentsSinkType.reasons['no-owner']!.readBy!;
    expect(expressionsIn(destination.config).flatMap(({ key }) => (keys.test(key) ? [key] : []))).toEqual(['owner']);
    await destination.close();
  });

  it('leaves what it stored about a person to an operator if the settings say so', async () => {
    const destination = await startStore();
    const sink = documentsSinkType.create(destination.config, environmentOf('index', { onForget: 'manual' }));
    const erased = { ...person('1', null), removal: 'erased' as const, object: { mayExist: true } };
    expect(await sink.plan([erased])).toEqual([{ kind: 'nothing', reason: 'forget-by-hand' }]);
    // An erasure then tells the operator to remove the data, because the declaration does not say that nothing is left.
    expect(documentsSinkType.reasons['forget-by-hand']).not.toHaveProperty('nothingLeft');
    expect(await sink.plan([person('1', null)])).toMatchObject([{ kind: 'send' }]); // deleted in the service
    await destination.close();
  });

  it('names a cause of its own for a document that is locked', async () => {
    const destination = await startStore();
    const sink = destination.open();
    const [outcome] = await send(sink, [person('1', { Name: 'Ada', said: 'locked' })]);
    expect(outcome).toMatchObject({ kind: 'rejected', cause: 'documents:locked', about: 'record' });
    await destination.close();
  });

  it('has about a hundred lines of code', () => {
    const source = readFileSync(join(__dirname, '../../../docs/examples/documents-sink.ts'), 'utf8');
    const code = source.split('\n').filter((line) => !/^\s*(?:\/\/.*|\/\*\*.*)?$/.test(line));
    expect(code.length).toBeLessThan(115);
  });
});
