import type { DoubleAnswer, DoubleRequest } from '../../sandbox/serve/double-request.js';
import type { Fields, HeldResult, ReadBack, Sink, Subject } from '../sink.js';
import type { HttpOperation } from './plan.js';
import { item, lane, open, records, stage } from './receiver-stage.test-kit.js';

const requests = {
  properties: { text: 'item.text', rank: '7' },
  find: {
    url: '"/items?key=" & change.key',
    idFrom: 'body.items[0].id',
    holds: 'body.items[0].{ "text": text, "rank": rank, "other": other }',
  },
  create: { url: '"/items"', body: '$merge([properties, { "key": change.key }])', idFrom: 'body.id' },
  update: { url: '"/items/" & record.id', body: 'properties' },
  delete: { url: '"/items/" & record.id' },
};

/** Records by id, as an API stores them. Ranks are texts. */
const stored = new Map<string, Record<string, unknown>>();
const objects = new Map<string, Fields | null>();
let nextId = 1;

function answer({ method, path, query, body }: DoubleRequest): DoubleAnswer {
  const id = /^\/v2\/items\/(\w+)$/.exec(path)?.[1];
  const fields = body === '' ? {} : (JSON.parse(body) as Fields);
  if (method === 'GET') {
    const found = [...stored].filter(([, { key }]) => key === query.get('key'));
    return { status: 200, json: { items: found.map(([each, values]) => ({ id: each, ...values })) } };
  }
  if (method === 'POST') {
    const created = `r${(nextId += 1)}`;
    stored.set(created, { ...fields, rank: String(fields.rank) });
    return { status: 201, json: { id: created } };
  }
  if (id === undefined || !stored.has(id)) return { status: 404 };
  if (method === 'DELETE') stored.delete(id);
  else stored.set(id, { ...stored.get(id), ...fields, rank: String(fields.rank) });
  return { status: 200, json: { id } };
}

function idOf(key: string): string {
  return [...stored].find(([, values]) => values.key === key)![0];
}

const known = (subject: Subject): Subject => ({
  ...subject,
  object: objects.get(subject.change.key) ?? null,
  again: true,
});

async function deliver(sink: Sink, subjects: readonly Subject[]): Promise<void> {
  stage.answers = Array.from({ length: 50 }, () => answer);
  for (let rounds = 0; rounds < 2; rounds += 1) {
    const planned = await sink.plan(subjects.map(known));
    const operations = planned.flatMap((plan) => (plan.kind === 'send' ? [plan.operation] : []));
    const { outcomes } = await sink.send(operations, lane, new AbortController().signal);
    outcomes.forEach(({ object }, at) => object !== undefined && objects.set(subjects[at]!.change.key, object));
  }
}

async function readBack(sink: Sink, subjects: readonly Subject[]): Promise<[HeldResult[], (string[] | string)[]]> {
  stage.answers = stage.answers.length < 50 ? stage.answers : Array.from({ length: 50 }, () => answer);
  const planned = await sink.plan(subjects.map(known));
  const entries = subjects.map(({ change, removal }, at): ReadBack => {
    const plan = planned[at]!;
    const expected = removal === null ? 'content' : 'absence';
    const operation = plan.kind === 'send' ? plan.operation : null;
    return { change, expected, removal, operation, object: objects.get(change.key) ?? null };
  });
  const results = await sink.readBack!(entries, lane, new AbortController().signal);
  const found = results.map((result, at) =>
    result.kind === 'held' ? [...sink.compareHeld!(entries[at]!.operation as HttpOperation, result.held)] : result.kind,
  );
  return [[...results], found];
}

beforeEach(() => {
  stored.clear();
  objects.clear();
});

const asked = ['1', '2', '3', '4'].map((key) => item(key));

it('finds records that were edited, deleted or created again, and a repair sends them', async () => {
  const sink = open(records(requests));
  await deliver(sink, asked);
  expect((await readBack(sink, asked))[1]).toEqual([[], [], [], []]);
  const [one, two, three] = ['1', '2', '3'].map(idOf);
  Object.assign(stored.get(one!)!, { text: 'edited', other: 'x' });
  stored.delete(two!);
  stored.set('other', stored.get(three!)!);
  stored.delete(three!);
  const [results, found] = await readBack(sink, asked);
  expect(found).toEqual([['questions.text'], 'missing', ['questions.id'], []]);
  results.forEach((result, at) => {
    if ('object' in result && result.object !== undefined) objects.set(asked[at]!.change.key, result.object);
  });
  await deliver(sink, asked);
  expect((await readBack(sink, asked))[1]).toEqual([[], [], [], []]);
  expect(stored.size).toBe(4);
});

it('finds the record of a removed item while it is there', async () => {
  const sink = open(records(requests));
  await deliver(sink, asked);
  const removed = item('1', null, { removal: 'erased' });
  expect((await readBack(sink, [removed]))[1]).toEqual([['questions']]);
  stored.delete(idOf('1'));
  expect((await readBack(sink, [removed]))[1]).toEqual(['missing']);
});

it.each([
  [{ status: 404 }, 'missing'],
  [{ status: 200, json: { items: [] } }, 'missing'],
  [{ status: 200, text: '<html>', headers: { 'content-type': 'text/html' } }, 'retry'],
  [{ status: 503 }, 'retry'],
  [{ status: 401 }, 'pause'],
  [{ status: 422 }, 'unreadable'],
])('an answer %j to "find" means %s', async (given: DoubleAnswer, kind) => {
  const sink = open(records(requests));
  await deliver(sink, asked);
  stage.answers = [() => given];
  expect((await readBack(sink, [asked[0]!]))[1]).toEqual([kind]);
});

it('a sink without "find", or of a log, cannot be read back', () => {
  expect(open(records({}))).not.toHaveProperty('readBack');
  expect(open({ ...records({}), revisions: 'every' })).not.toHaveProperty('readBack');
});
