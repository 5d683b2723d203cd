import { Secret } from '../../config/secret.js';
import { COLLEAGUE, type DynamicsDouble, startDynamicsDouble } from '../../sandbox/dynamics/start-dynamics-double.js';
import type { Change } from '../change.js';
import { attendee as guideAttendee, GuideSink, kinds } from '../http/guide.test-kit.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import { environmentOf, laneOf } from '../sink-environment.test-kit.js';
import type { Fields, Outcome, Sink, SinkEnvironment, Subject } from '../sink.js';
import { dynamicsConfigSchema } from './config.js';
import { createDynamicsSink } from './dynamics.js';

let double: DynamicsDouble;
const opened: Sink[] = [];

beforeEach(async () => {
  double = await startDynamicsDouble();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((sink) => sink.close()));
  await double.close();
});

const record = {
  from: 'attendees',
  object: 'contacts',
  match: ['emailaddress1'],
  properties: {
    emailaddress1: 'item.Email',
    firstname: { value: 'item.first', write: 'if-empty' },
    lastname: { value: 'item.last', write: 'if-empty' },
    jobtitle: 'item.job',
    acme_lastevent: { value: 'pigeonhole.name', write: 'if-newer' },
  },
};

function sinkWith(
  keys: object = {},
  environment: Partial<SinkEnvironment> = {},
  clientSecret = 'dynamics-secret',
): Sink {
  const config = dynamicsConfigSchema.parse({
    baseUrl: `${double.url}/api/data/v9.2`,
    tokenUrl: `${double.url}/oauth2/v2.0/token`,
    clientId: '11111111-2222-3333-4444-555555555555',
    clientSecret: new Secret(clientSecret),
    records: [{ ...record, ...keys }],
  });
  const sink = createDynamicsSink(config, environmentOf('crm', environment));
  opened.push(sink);
  return sink;
}

const ada = { id: 1, first: 'Ada', last: 'Lovelace', Email: 'Ada@Example.com', job: 'Countess' };

function attendee(data: Fields & { readonly id: number }, around: Partial<Subject> = {}): Subject {
  const change: Change = sampleChange({ id: `a-${data.id}`, list: 'attendees', key: String(data.id), data });
  return subjectOf(change, { pigeonhole: { id: 101, name: 'Summit', startDate: '2026-11-21' }, ...around });
}

const gone = (id: number, removal: Subject['removal'], object: Fields | null): Subject =>
  subjectOf(sampleChange({ id: `g-${id}`, list: 'attendees', key: String(id), data: null }), { removal, object });

async function deliver(sink: Sink, ...subjects: Subject[]): Promise<readonly Outcome[]> {
  const planned = await sink.plan(subjects);
  const operations = planned.map((each) => {
    if (each.kind !== 'send') throw new Error(JSON.stringify(each));
    return each.operation;
  });
  return (await sink.send(operations, laneOf(), new AbortController().signal)).outcomes;
}

const rows = () =>
  [...double.contacts.values()].map(({ firstname, lastname, jobtitle, acme_lastevent: event }) =>
    [firstname, lastname, jobtitle, event].map((each) => each ?? '-').join(' '),
  );

it('an attendee without a row gets one', async () => {
  expect(await deliver(sinkWith(), attendee(ada))).toMatchObject([{ kind: 'delivered' }]);
  expect(rows()).toEqual(['Ada Lovelace Countess Summit']);
  expect([...double.contacts.values()][0]).toMatchObject({ emailaddress1: 'ada@example.com' });
});

it('the example of docs/sinks/dynamics.md creates a row, and passes its check', async () => {
  const guide = await GuideSink.open({
    page: '../dynamics',
    replace: { 'https://acme.crm4.dynamics.com': double.url, 'https://login.microsoftonline.com': double.url },
    variables: { DYNAMICS_SECRET: 'dynamics-secret' },
  });
  const ann = { id: 4711, Name: 'Ann Ray', Email: 'ann@example.com' };
  expect(kinds(await guide.deliver([guideAttendee('4711', ann)]))).toEqual(['delivered']);
  expect(rows()).toEqual(['Ann Ray - Summit']);
  expect((await guide.check()).filter(({ ok }) => !ok)).toEqual([]);
  await guide.close();
});

describe('an existing row', () => {
  it('is found by e-mail in any case, and filled without a second name', async () => {
    double.add({ lastname: 'Byron', emailaddress1: 'ADA@example.com' });
    await deliver(sinkWith(), attendee(ada));
    expect(rows()).toEqual(['- Byron Countess Summit']);
  });

  it('keeps a newer value with "if-newer"', async () => {
    double.add({ lastname: 'Lovelace', emailaddress1: 'ada@example.com', acme_lastevent: 'Expo' });
    await deliver(sinkWith(), attendee({ ...ada, createdAt: '2020-01-01T00:00:00Z' }));
    expect(rows()).toEqual(['Ada Lovelace Countess Expo']);
  });

  it('is not chosen if several match, unless "onSeveral" says which', async () => {
    for (const lastname of ['One', 'Two']) double.add({ lastname, emailaddress1: 'ada@example.com' });
    expect(await deliver(sinkWith(), attendee(ada))).toMatchObject([
      { kind: 'rejected', cause: 'dynamics:ambiguous-match:emailaddress1', about: 'record' },
    ]);
    await deliver(sinkWith({ onSeveral: 'newest' }), attendee(ada));
    expect(rows()).toEqual(['- One - -', '- Two Countess Summit']);
  });

  it('is one request for two attendees with one address, and a refusal of one does not affect the other', async () => {
    double.add({ lastname: 'Lovelace', emailaddress1: 'ada@example.com' });
    const outcomes = await deliver(sinkWith(), attendee(ada), attendee({ ...ada, id: 2, job: 'x'.repeat(101) }));
    expect(outcomes).toMatchObject([{ kind: 'delivered' }, { kind: 'rejected', cause: 'dynamics:0x80044331' }]);
    expect(rows()).toEqual(['Ada Lovelace Countess Summit']);
  });
});

describe('a later revision', () => {
  it('updates the same row although the address has changed, and clears what it lacks', async () => {
    const [first] = await deliver(sinkWith(), attendee(ada));
    const { job: _, ...rest } = { ...ada, Email: 'countess@example.com' };
    await deliver(sinkWith(), attendee(rest, { object: first!.object! }));
    expect([...double.contacts.values()]).toMatchObject([{ emailaddress1: 'countess@example.com', jobtitle: null }]);
  });

  it('creates the row again if it was deleted, and follows one that was merged by its address', async () => {
    const sink = sinkWith();
    const [first] = await deliver(sink, attendee(ada));
    const { id } = (first!.object as { contacts: { id: string } }).contacts;
    double.contacts.delete(id);
    const [second] = await deliver(sink, attendee(ada, { object: first!.object! }));
    expect(rows()).toEqual(['Ada Lovelace Countess Summit']);
    const master = double.add({ lastname: 'Lovelace', emailaddress1: 'ada@example.com' });
    double.merge(id, master.contactid);
    const [third] = await deliver(sink, attendee({ ...ada, job: 'Analyst' }, { object: second!.object! }));
    expect(third).toMatchObject({ object: { contacts: { id: master.contactid, created: false } } });
    expect(double.contacts.get(master.contactid)).toMatchObject({ jobtitle: 'Analyst' });
  });
});

it('a merged row is not written, even if every column is always overwritten', async () => {
  const sink = sinkWith({ properties: { emailaddress1: 'item.Email', lastname: 'item.last', jobtitle: 'item.job' } });
  const [first] = await deliver(sink, attendee(ada));
  const { id } = (first!.object as { contacts: { id: string } }).contacts;
  const master = double.add({ lastname: 'Lovelace', emailaddress1: 'ada@example.com' });
  double.merge(id, master.contactid);
  await deliver(sink, attendee({ ...ada, job: 'Analyst' }, { object: first!.object! }));
  expect(double.contacts.get(id)).toMatchObject({ jobtitle: 'Countess' });
  expect(double.contacts.get(master.contactid)).toMatchObject({ jobtitle: 'Analyst' });
});

describe('a person who must be forgotten', () => {
  it('loses the values that the sink wrote, and no others', async () => {
    double.add({ lastname: 'Byron', emailaddress1: 'ada@example.com' });
    const [{ object } = {}] = await deliver(sinkWith(), attendee(ada));
    expect(await deliver(sinkWith(), gone(1, 'consent-withdrawn', object!))).toMatchObject([
      { kind: 'delivered', object: null },
    ]);
    expect([...double.contacts.values()]).toMatchObject([
      { lastname: 'Byron', emailaddress1: 'ada@example.com', jobtitle: null, acme_lastevent: null },
    ]);
  });

  it('loses the row with "onForget: delete", and a row that is gone is no failure', async () => {
    const sink = sinkWith({}, { onForget: 'delete' });
    const [{ object } = {}] = await deliver(sink, attendee(ada));
    for (let times = 0; times < 2; times += 1) {
      expect(await deliver(sink, gone(1, 'erased', object!))).toMatchObject([{ kind: 'delivered', object: null }]);
    }
    expect(rows()).toEqual([]);
  });

  it('is a dead letter for an operator if the row was merged into another one, or with "onForget: manual"', async () => {
    const [{ object } = {}] = await deliver(sinkWith(), attendee(ada));
    const { id } = (object as { contacts: { id: string } }).contacts;
    const master = double.add({ lastname: 'Lovelace' });
    double.merge(id, master.contactid);
    expect(await deliver(sinkWith(), gone(1, 'erased', object!))).toMatchObject([
      {
        kind: 'rejected',
        cause: 'dynamics:merged',
        about: 'record',
        detail: expect.stringContaining(master.contactid),
      },
    ]);
    const manual = sinkWith({}, { onForget: 'manual' });
    expect(await manual.plan([gone(1, 'erased', object!)])).toMatchObject([
      { kind: 'unplannable', cause: 'forget-by-hand', detail: expect.stringContaining(id) },
    ]);
  });

  it('keeps the row if only the item was deleted', async () => {
    const [{ object } = {}] = await deliver(sinkWith(), attendee(ada));
    expect(await sinkWith().plan([gone(1, 'deleted', object!)])).toEqual([{ kind: 'nothing', reason: 'kept' }]);
  });
});

it('a creation whose answer was lost is forgotten by the id that the sink chose', async () => {
  double.faults.add({ method: 'PATCH', effect: { kind: 'dropAfter' } });
  const [outcome] = await deliver(sinkWith(), attendee(ada));
  expect(outcome).toMatchObject({ kind: 'retry' });
  expect(rows()).toHaveLength(1);
  await deliver(sinkWith({}, { onForget: 'delete' }), gone(1, 'erased', outcome!.object!));
  expect(rows()).toEqual([]);
});

it('a wrong secret pauses the sink without being shown, and "create: false" creates nothing', async () => {
  const wrong = sinkWith({}, {}, 'another-secret');
  const said = JSON.stringify([await deliver(wrong, attendee(ada)), await wrong.check(new AbortController().signal)]);
  expect(said).toContain('"pause"');
  expect(said).not.toContain('another-secret');
  expect(await deliver(sinkWith({ create: false }), attendee(ada))).toMatchObject([{ kind: 'delivered' }]);
  expect(rows()).toEqual([]);
});

it('the check names a table whose columns cannot be read', async () => {
  const sink = sinkWith({ properties: { ...record.properties, acme_none: '"x"' } });
  const lines = await sink.check(new AbortController().signal);
  expect(lines.map(({ ok }) => ok)).toEqual([true, false]);
  expect(lines[1]!.text).toContain('acme_none');
});

describe('an audit', () => {
  const people = ['Ada', 'Grace', 'Joan', 'Mary'].map((first, id) =>
    attendee({ id, first, last: 'L', Email: `${first}@Example.com`, job: ' Analyst ' }),
  );
  let nowMs: number;
  let objects: Map<string, Fields | null>;
  let sink: Sink;

  beforeEach(async () => {
    nowMs = Date.parse('2026-11-21T09:30:00Z');
    await double.close();
    double = await startDynamicsDouble({ now: () => nowMs });
    objects = new Map();
    sink = sinkWith({}, { now: () => nowMs });
  });

  const lane = {
    ...laneOf(),
    async *objects() {
      for (const object of objects.values()) if (object !== null) yield object;
    },
  };
  const known = (subject: Subject): Subject => ({
    ...subject,
    object: objects.get(subject.change.key) ?? null,
    again: true,
  });
  const send = async (subjects: readonly Subject[]): Promise<void> => {
    const outcomes = await deliver(sink, ...subjects.map(known));
    outcomes.forEach(({ object }, at) => object !== undefined && objects.set(subjects[at]!.change.key, object));
    nowMs += 60_000;
  };
  const audit = async (subjects: readonly Subject[]): Promise<Record<string, unknown>> => {
    const planned = await sink.plan(subjects.map(known));
    const entries = subjects.flatMap(({ change, removal }, at) => {
      const plan = planned[at]!;
      if (plan.kind === 'nothing') return [];
      const object = objects.get(change.key) ?? null;
      const expected = removal === null ? ('content' as const) : ('absence' as const);
      return [{ change, removal, object, expected, operation: plan.kind === 'send' ? plan.operation : null }];
    });
    const results = await sink.readBack!(entries, lane, new AbortController().signal);
    return Object.fromEntries(
      results.flatMap((result, at) => {
        const { change, operation } = entries[at]!;
        if (result.kind !== 'held') return [[change.key, result.kind]];
        const names = operation === null ? ['extra'] : sink.compareHeld!(operation, result.held);
        return names.length === 0 ? [] : [[change.key, names.join(' ')]];
      }),
    );
  };
  const rowOf = (first: string): string =>
    [...double.contacts.values()].find((row) => row['firstname'] === first)!.contactid;

  it('finds rows that were edited, deleted or merged, and a repair sends them again', async () => {
    await send(people);
    expect(await audit(people)).toEqual({});
    double.change(rowOf('Ada'), { jobtitle: 'Countess', lastname: 'Lovelace' });
    double.contacts.delete(rowOf('Grace'));
    const master = double.add({ lastname: 'M', emailaddress1: 'joan@example.com', jobtitle: 'Analyst' });
    double.merge(rowOf('Joan'), master.contactid);
    double.change(rowOf('Mary'), { emailaddress1: 'MARY@example.com' });
    expect(await audit(people)).toEqual({
      0: 'contacts.jobtitle',
      1: 'missing',
      2: 'contacts.id contacts.acme_lastevent',
    });
    nowMs += 60_000;
    await send(people.slice(0, 3));
    expect(await audit(people)).toEqual({});
  });

  it('says which user changed a row', async () => {
    await send(people);
    double.change(rowOf('Ada'), { jobtitle: 'Countess' });
    const [plan] = await sink.plan([known(people[0]!)]);
    const { change } = people[0]!;
    const operation = plan!.kind === 'send' ? plan!.operation : null;
    const entry = { change, operation, object: objects.get('0')!, removal: null, expected: 'content' as const };
    expect(await sink.readBack!([entry], lane, new AbortController().signal)).toMatchObject([
      { kind: 'held', changedBy: COLLEAGUE, changedAt: '2026-11-21T09:31:00.000Z' },
    ]);
  });

  it('leaves a row that two attendees share to the one who wrote it last', async () => {
    const [one, two] = [attendee({ ...ada, job: 'One' }), attendee({ ...ada, id: 2, job: 'Two' })];
    await send([one, two]);
    expect([await audit([one, two]), await audit([one]), await audit([two])]).toEqual([{}, {}, {}]);
    await send([one]);
    expect(await audit([one, two])).toEqual({});
    double.change(rowOf('Ada'), { jobtitle: 'Three' });
    expect(await audit([two, one])).toEqual({ 1: 'contacts.jobtitle' });
  });

  it.each(['clear-our-fields', 'delete', 'manual'] as const)(
    'finds what is left of an erased person (onForget: %s), and keeps the row of a deleted item',
    async (onForget) => {
      sink = sinkWith({}, { now: () => nowMs, onForget });
      await send(people);
      const erased = gone(0, 'erased', null);
      expect(await audit([erased, gone(1, 'deleted', null)])).toEqual({
        0: onForget === 'manual' ? 'extra' : 'contacts',
      });
      if (onForget === 'manual') double.contacts.delete(rowOf('Ada'));
      else await send([erased]);
      expect(await audit([erased])).toEqual(onForget === 'manual' ? { 0: 'missing' } : {});
    },
  );

  it('says that a column cannot be read', async () => {
    await send(people);
    sink = sinkWith({ properties: { ...record.properties, acme_none: '"x"' } }, { now: () => nowMs });
    expect(await audit([people[0]!])).toEqual({ 0: 'unreadable' });
  });
});
