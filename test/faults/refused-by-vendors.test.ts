import { anyStore } from '../../ledger/drivers/both-databases.test-kit.js';
import { type LrsDouble, startLrsDouble } from '../../sandbox/lrs/start-lrs-double.js';
import { type MoodleDouble, startMoodleDouble } from '../../sandbox/moodle/start-moodle-double.js';
import type { DoubleAnswer } from '../../sandbox/serve/double-request.js';
import { type RunningDouble, serveDouble } from '../../sandbox/serve/serve-double.js';
import { attendee } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { type Item, type Stage, useStages } from '../kit/stage.js';
import { statusOf } from '../kit/status-of.js';

/*
 * refusals.test.ts shows what the engine does about refusals, on both stores. These tests show that the sinks for an LRS
 * and for any HTTP API report refusals in a way that the engine recognises.
 */

const stages = useStages();

/** A destination that stores one record for each attendee. */
interface Destination {
  readonly double: RunningDouble;
  /** The sink as YAML. */
  readonly sink: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Returns a text that only request bodies about this attendee contain. */
  mark(id: number): string;
  /** Returns the ids of the attendees with a record. */
  has(): number[];
}

async function lrs(): Promise<Destination> {
  const double: LrsDouble = await startLrsDouble({ accounts: [{ username: 'key', password: 's3cret' }] });
  return {
    double,
    sink: `{ type: xapi, endpoint: "${double.endpoint}", username: key, password: "\${LRS_SECRET}",
      actor: { homePage: "https://example.com", name: attendee.attendeeCode }, statements: [attended] }`,
    environment: { LRS_SECRET: 's3cret' },
    mark: (id) => `"code-${id}"`,
    has: () => double.store.all.map(({ actor }) => Number((actor['account'] as { name: string }).name.slice(5))),
  };
}

async function anyApi(): Promise<Destination> {
  const people = new Set<number>();
  const answer = ({ body }: { readonly body: string }): DoubleAnswer => {
    const { person } = JSON.parse(body) as { person: number };
    people.add(person);
    return { status: 201, json: { id: person } };
  };
  const double = await serveDouble({ answer, state: () => [] }, {});
  return {
    double,
    sink: `{ type: http, baseUrl: "${double.url}", records: [{ from: attendees,
      create: { url: '"/people"', body: '{ "person": item.id }', idFrom: body.id } }] }`,
    environment: {},
    mark: (id) => `{"person":${id}}`,
    has: () => [...people],
  };
}

/** Moodle answers every error with HTTP 200. The points are the id of the attendee, so that each grade is another one. */
async function moodle(): Promise<Destination> {
  const double: MoodleDouble = await startMoodleDouble();
  const points = new Set<number>();
  const grades = double.grades as Map<number, number>;
  const set = grades.set.bind(grades);
  grades.set = (user, grade) => (points.add(grade), set(user, grade));
  return {
    double,
    sink: `{ type: http, preset: moodle, baseUrl: "${double.url}", auth: { value: "\${MOODLE_TOKEN}" },
      records: [{ from: attendees,
        properties: { courseid: "42", activityid: "7", user: '"ann@example.com"', grade: item.id } }] }`,
    environment: { MOODLE_TOKEN: double.token },
    mark: (id) => `&${encodeURIComponent('grades[0][grade]')}=${id}&`,
    has: () => [...points],
  };
}

const refusal = (status: number): DoubleAnswer => ({ status, json: { message: 'refused' } });
const exception: DoubleAnswer = { status: 200, json: { exception: 'x', errorcode: 'invalidparameter', message: 'no' } };

const cases: readonly (readonly [string, () => Promise<Destination>, DoubleAnswer, string])[] = [
  ...[400, 413, 422].map((status) => [`an LRS with HTTP ${status}`, lrs, refusal(status), `http:${status}`] as const),
  ...[400, 413, 422].map(
    (status) => [`an API with HTTP ${status}`, anyApi, refusal(status), `http:${status}`] as const,
  ),
  ['Moodle with HTTP 200 and an exception', moodle, exception, 'invalidparameter'],
];

let destination: Destination | undefined;
afterEach(() => destination?.double.close());

async function open(stage: Stage, start: () => Promise<Destination>): Promise<Scene> {
  destination = await start();
  const { sink, environment } = destination;
  return await stage.scene({ sinks: { vendor: sink.replaceAll(/\n */g, ' ') }, environment });
}

const people = (count: number, from = 1) => Array.from({ length: count }, (_, index) => attendee(from + index));
const ids = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const held = (): number[] => destination!.has().toSorted((one, other) => one - other);

/** Two pigeonholes are two lanes: the breaker opens when both fail. */
async function put(stage: Stage, pigeonhole: number, items: readonly Item[]): Promise<void> {
  const each = { op: 'insert', list: 'attendees', pigeonhole, exact: true };
  const mutations = items.map((item) => ({ ...each, id: item['id'], item }));
  await stage.control('POST', 'mutations', mutations);
}

/** Runs cycles and ends all waits before each. */
async function turns(stage: Stage, scene: Scene, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await stage.retriesAreDue();
    await scene.deliver('vendor');
  }
}

async function parked({ db }: Stage): Promise<unknown[]> {
  return await db.query(`select key, reason from deliveries where state = 'dead' order by key`);
}

async function problems(scene: Scene): Promise<string[]> {
  const status = await statusOf(scene);
  return status.problems.map(({ code }) => code).filter((code) => code !== 'sink-behind');
}

describe.each(cases)('refused by %s', (_, start, answer, cause) => {
  it('every record opens the circuit breaker, loses nothing, and is delivered when the destination works', async () => {
    const stage = await stages.open(anyStore, { pigeonholes: 2, sessions: 0 });
    await put(stage, 101, people(20));
    await put(stage, 102, people(20, 21));
    const scene = await open(stage, start);
    await scene.settle();
    expect(held()).toEqual(ids(40));

    const { faults, requests } = destination!.double;
    faults.add({ effect: { kind: 'answer', answer }, method: 'POST', times: Number.POSITIVE_INFINITY });
    await put(stage, 101, people(20, 41));
    await put(stage, 102, people(20, 61));
    await stage.pollsAreDue();
    await scene.settle();
    await turns(stage, scene, 3);
    const [last] = await stage.db.query<{ now: string }>('select clock_timestamp()::text as now');
    await turns(stage, scene, 1);
    expect(await parked(stage)).toEqual([]);
    expect(await problems(scene)).toEqual(['sink-failing']);
    const breaker = `select retry_at > $1::timestamptz + interval '500 milliseconds' as waits from sinks`;
    expect(await stage.db.query(breaker, [last!.now])).toEqual([{ waits: true }]);
    await stage.db.query(`update sinks set retry_at = retry_at + interval '1 hour'`); // longer than the test
    const before = requests.length;
    await scene.deliver('vendor'); // it is not due yet
    expect(requests).toHaveLength(before);

    faults.clear();
    await stage.retriesAreDue();
    await scene.settle();
    expect(held()).toEqual(ids(80));
    expect(await stage.db.query(`select 1 from deliveries where state <> 'delivered'`)).toEqual([]);
    expect(await problems(scene)).toEqual([]);
  });

  it('one record among many is parked as a dead letter, and the others are delivered', async () => {
    const stage = await stages.open(anyStore);
    await stage.put('attendees', ...people(12));
    const scene = await open(stage, start);
    const effect = { kind: 'answer', answer } as const;
    const bodyHas = destination!.mark(7);
    destination!.double.faults.add({ effect, method: 'POST', bodyHas, times: Number.POSITIVE_INFINITY });
    await scene.settle();
    await turns(stage, scene, 2);
    expect(held()).toEqual(ids(12).filter((id) => id !== 7));
    expect(await parked(stage)).toEqual([{ key: '7', reason: cause }]);
    expect(await problems(scene)).toEqual(['dead-letters']);
  });
});

describe.each([
  ['an LRS', lrs],
  ['an API', anyApi],
])('a wrong address of %s', (_, start) => {
  it.each([404, 405])('delays everything and loses nothing (HTTP %d)', async (status) => {
    const stage = await stages.open(anyStore);
    await stage.put('attendees', ...people(30));
    const scene = await open(stage, start);
    const effect = { kind: 'answer', answer: refusal(status) } as const;
    destination!.double.faults.add({ effect, method: 'POST', times: Number.POSITIVE_INFINITY });
    await scene.settle();
    await turns(stage, scene, 4);
    expect(await parked(stage)).toEqual([]);
    expect(await problems(scene)).toEqual(['sink-failing']);

    destination!.double.faults.clear();
    await stage.retriesAreDue();
    await scene.settle();
    expect(held()).toEqual(ids(30));
    expect(await problems(scene)).toEqual([]);
  });
});
