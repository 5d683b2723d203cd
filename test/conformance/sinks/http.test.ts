import { Secret } from '../../../config/secret.js';
import { createHttpSink, httpSinkType } from '../../../sinks/http/http.js';
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

/* Applies the suite to three APIs: one that assigns ids, one with batches, and one with OAuth 2. */

const token = 'http-t0ken';
const clientSecret = 'client-s3cret';

/** People by an id that the API assigns. `/upsert` accepts several at a time by a key of the caller. */
class PeopleApi {
  readonly people = new Map<string, { readonly key: string; readonly said: unknown }>();
  #next = 1;

  answer(request: DoubleRequest): DoubleAnswer {
    const { method, path, headers, body, query } = request;
    if (path === '/token') return this.#token(request);
    if (headers['authorization'] !== `Bearer ${token}`) return { status: 401 };
    const id = decodeURIComponent(/^\/people\/([^/]+)$/.exec(path)?.[1] ?? '');
    if (method === 'GET' && path === '/people') {
      const found = [...this.people].filter(([, { key }]) => key === query.get('key'));
      return { status: 200, json: { results: found.map(([each]) => ({ id: each })) } };
    }
    if (method === 'POST' && path === '/people/upsert') return this.#upsert(JSON.parse(body) as Entry[]);
    if (method === 'POST' && path === '/people') return this.#write(`p${(this.#next += 1)}`, JSON.parse(body) as Entry);
    if (!this.people.has(id)) return { status: 404 };
    if (method === 'PATCH') return this.#write(id, JSON.parse(body) as Entry);
    if (method === 'DELETE') this.people.delete(id);
    return { status: method === 'DELETE' ? 204 : 405 };
  }

  #write(id: string, entry: Entry): DoubleAnswer {
    if (entry.said === 'poison') return { status: 422, json: { message: `${entry.name} is refused` } };
    this.people.set(id, { key: entry.key, said: entry.said });
    return { status: 200, json: { id } };
  }

  #upsert(entries: readonly Entry[]): DoubleAnswer {
    const results = entries.map((entry) => {
      const [known] = [...this.people].find(([, { key }]) => key === entry.key) ?? [`p${(this.#next += 1)}`];
      const { status } = this.#write(known, entry);
      return status === 200 ? { id: known, status: 'ok' } : { status: 'invalid', reason: 'bad-value' };
    });
    return { status: 200, json: { results } };
  }

  #token({ headers, body }: DoubleRequest): DoubleAnswer {
    const right = `Basic ${Buffer.from(`client:${clientSecret}`).toString('base64')}`;
    if (headers['authorization'] !== right || !body.includes('grant_type=client_credentials'))
      return { status: 401, json: { error: 'invalid_client' } };
    return { status: 200, json: { access_token: token, token_type: 'Bearer', expires_in: 3600 } };
  }
}

interface Entry {
  readonly key: string;
  readonly name: string;
  readonly said: string;
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

const body = '{ "key": change.key, "name": item.Name, "said": item.said }';

const oneByOne = {
  records: [
    {
      from: 'attendees',
      find: { url: '"/people?key=" & $encodeUrlComponent(change.key)', idFrom: 'body.results[0].id' },
      create: { url: '"/people"', body, idFrom: 'body.id' },
      update: { url: '"/people/" & record.id', body },
      delete: { url: '"/people/" & record.id' },
    },
  ],
};

const inBatches = {
  batch: { size: 3 },
  results: 'body.results.{ "outcome": status = "ok" ? "delivered" : "rejected", "cause": reason, "id": id }',
  records: [
    {
      from: 'attendees',
      create: { url: '"/people/upsert"', body, batch: '[items]' },
      delete: { url: '"/people/" & record.id' },
    },
  ],
};

type Destination = StateDestination & { readonly api: PeopleApi };

const start =
  (keys: object, isOAuth = false) =>
  async (): Promise<Destination> => {
    const api = new PeopleApi();
    let nowMs = Date.now();
    // The clock runs ahead, because the suite repeats immediately, and the sink remembers a failed login for 5 s.
    const now = (): number => (nowMs += 1000);
    const double = await serveDouble(
      {
        answer: (request) => api.answer(request),
        state: () => [...api.people],
      },
      {},
    );
    const auth = isOAuth
      ? {
          type: 'client-credentials',
          tokenUrl: `${double.url}/token`,
          clientId: 'client',
          clientSecret: new Secret(clientSecret),
        }
      : { type: 'bearer', token: new Secret(token) };
    const config = httpSinkType.configSchema.parse({
      baseUrl: double.url,
      auth,
      check: { url: '"/people?key=none"' },
      ...keys,
    });
    return {
      api,
      open: () => createHttpSink(config, environmentOf('people', { now })),
      // ids differ between runs if an answer was lost
      state: () => [...api.people.values()].toSorted((one, other) => (one.key < other.key ? -1 : 1)),
      requests: () => double.requests.length,
      fail: (how, skip) => double.faults.add({ effect: effects[how]!, skip }),
      begin: (refusal) => double.faults.add({ effect: effects[refusal]!, times: 1_000_000 }),
      repair: () => double.faults.clear(),
      secrets: [token, clientSecret],
      close: () => double.close(),
    };
  };

function person(key: string, data: Record<string, unknown> | null, around: Partial<Subject> = {}): Subject {
  return subjectOf(sampleChange({ id: `change ${key}`, list: 'attendees', key, data }), around);
}

const people = (said: string): Subject[] =>
  ['1', '2', '3', 'ä/../?4'].map((key) => person(key, { Name: PERSONAL_DATA[0], said }));

const story = {
  story: () => people('hello'),
  edited: () => people('goodbye'),
  poison: () => person('5', { Name: PERSONAL_DATA[0], said: 'poison' }),
  isFoundAgain: () => true,
  overloadAsksMs: 7000,
};

describeStateSink('http', { start: start(oneByOne), ...story, type: httpSinkType });
describeStateSink('http, in batches,', { start: start(inBatches), ...story, type: httpSinkType });
describeStateSink('http, with OAuth 2,', { start: start(oneByOne, true), ...story, type: httpSinkType });

describe('the http sink, when data must be removed', () => {
  const lane = { workspace: 'acme', pigeonholeId: 101, ledgerId: 'l', memory: {}, remember: () => Promise.resolve() };

  it.each(['deleted', 'consent-withdrawn', 'erased'] as const)(
    'removes the record of an item that is %s',
    async (removal) => {
      const destination = await start(oneByOne)();
      const sink = destination.open();
      const send = async (subjects: readonly Subject[]) => {
        const planned = await sink.plan(subjects);
        const operations = planned.flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
        return (await sink.send(operations, lane, new AbortController().signal)).outcomes;
      };
      const [made] = await send(people('hello').slice(0, 2));
      const gone = person('1', null, { removal, object: made!.object ?? null });
      expect(await send([gone])).toMatchObject([{ kind: 'delivered', object: null }]);
      expect(destination.state()).toEqual([{ key: '2', said: 'hello' }]);
      expect(await send([gone])).toMatchObject([{ kind: 'delivered', object: null }]); // a repeat
      await sink.close();
      await destination.close();
    },
  );
});
