import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import fc from 'fast-check';
import { Client } from 'pg';
import { Secret } from '../../../config/secret.js';
import type { Change } from '../../../sinks/change.js';
import { operationsFor } from '../../../sinks/plan-of.test-kit.js';
import { type PostgresOperation, storableJson } from '../../../sinks/postgres/plan.js';
import { createPostgresSink, postgresSinkType } from '../../../sinks/postgres/postgres.js';
import { localhostCertificate, localhostKey } from '../../../sinks/network/localhost-certificate.test-kit.js';
import type { Lane, Outcome, Sink, OnForget } from '../../../sinks/sink.js';
import { startPooler } from '../../pooler.js';
import { hasPostgres, startPostgres, type TestPostgres } from '../../postgres.js';
import { until } from '../../until.js';
import { Courier } from './destination.js';
import { Gate, type GateMode } from './gate.js';
import { anyChange, PERSONAL_DATA, storyOf } from './generated-changes.js';
import { environmentOf } from '../../../sinks/sink-environment.test-kit.js';
import { withDeclaredCodes } from './declared-codes.js';

/*
 * What the delivery engine relies on, for a sink that keeps the last state of each item, on a real server: a repeat of
 * any call is harmless, outcomes are per record, an outage loses and doubles nothing, and outcomes contain nothing
 * personal. One file although it is long: its tests share a server of their own, which takes longer to start than most
 * of them.
 */

interface Row {
  readonly key: string;
  readonly revision: string;
  readonly raw: unknown;
  readonly deleted_at: Date | null;
  readonly updated_at: Date;
  readonly [column: string]: unknown;
}

/** Limits for a database that answers, however slow the machine is. */
const patient = { connectTimeoutMs: 60_000, statementTimeoutMs: 60_000 };

const suite = hasPostgres() ? describe : describe.skip;

suite('the postgres sink', () => {
  let server: TestPostgres;
  let gate: Gate;
  let gatePort: number;
  let databases = 0;
  /** URL of the test's own database, without the gate. */
  let url: string;
  let owner: Client;
  const sinks: Sink[] = [];

  beforeAll(async () => {
    server = (await startPostgres())!;
    gate = new Gate(Number(new URL(server.url).port));
    gatePort = await gate.open();
  });
  afterAll(async () => {
    await gate.close();
    await server.stop();
  });
  beforeEach(async () => {
    url = await server.createDatabase(`warehouse_${(databases += 1)}`);
    owner = new Client({ connectionString: url });
    await owner.connect();
  });
  afterEach(async () => {
    gate.setMode('open');
    await Promise.all(sinks.splice(0).map((sink) => sink.close()));
    await owner.end();
  });

  function newSink({
    user = 'app',
    name = 'warehouse',
    onForget,
    hurried = false,
  }: {
    user?: string;
    name?: string;
    onForget?: OnForget;
    /** Waits little for a database that will never answer; one that is slow would be taken for it. */
    hurried?: boolean;
  } = {}): Sink<PostgresOperation> {
    const reached = new URL(url);
    reached.port = String(gatePort);
    reached.username = user;
    reached.password = 'passw0rd';
    const sink = createPostgresSink(
      { url: new Secret(reached.href), schema: 'engagement' },
      environmentOf(name, { ...(onForget && { onForget }) }),
      hurried ? { connectTimeoutMs: 400, statementTimeoutMs: 1_000 } : patient,
    );
    sinks.push(sink);
    return withDeclaredCodes(postgresSinkType, sink);
  }

  const laneOf = (ledgerId = 'ledger-1'): Lane => ({
    workspace: 'acme',
    pigeonholeId: 101,
    ledgerId,
    memory: {},
    remember: () => Promise.resolve(),
  });
  const signal = new AbortController().signal;

  async function send(sink: Sink<PostgresOperation>, changes: readonly Change[]): Promise<readonly Outcome[]> {
    return (await sink.send(await operationsFor(sink, changes), laneOf(), signal)).outcomes;
  }

  async function rowsOf(table: string): Promise<Row[]> {
    return (await owner.query<Row>(`select * from engagement.${table} order by key`)).rows;
  }

  async function everyTable(): Promise<Row[]> {
    const rows: Row[] = [];
    for (const table of ['questions', 'votes', 'answer_ratings', 'poll_mcq_votes', 'attendees'])
      rows.push(...(await rowsOf(table)));
    return rows;
  }

  const kinds = (outcomes: readonly Outcome[]): string[] => outcomes.map(({ kind }) => kind);

  it('stores every item unchanged, except characters that PostgreSQL cannot store', async () => {
    const sink = newSink();
    const expected = new Map<string, unknown>();
    let made = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyChange, { maxLength: 20 }), async (generated) => {
        const changes = generated
          .filter(({ data }) => data !== null)
          .map((change) => ({ ...change, key: `k${(made += 1)}` }));
        expect(kinds(await send(sink, changes))).toEqual(changes.map(() => 'delivered'));
        for (const { list, key, data } of changes) expected.set(`${list} ${key}`, JSON.parse(storableJson(data)));
      }),
      { numRuns: 20 },
    );
    const found = new Map<string, unknown>();
    for (const list of ['questions', 'votes', 'answer_ratings', 'poll-mcq-votes', 'attendees'])
      for (const { key, raw } of await rowsOf(list.replaceAll('-', '_'))) found.set(`${list} ${key}`, raw);
    expect(found).toEqual(expected);
  });

  it('changes nothing if it receives the same record again, not even the time of writing', async () => {
    const sink = newSink();
    const story = storyOf({ items: 7, revisions: 3 });
    await send(sink, story);
    const before = await everyTable();
    expect(kinds(await send(sink, story))).toEqual(story.map(() => 'delivered'));
    expect(await everyTable()).toEqual(before);
    expect(before.map(({ revision }) => revision)).toEqual(before.map(() => '3'));
    expect(before).toHaveLength(7);
  });

  it('never overwrites a newer revision with an older one, even if that is late, repeated or from another process', async () => {
    const story = storyOf({ items: 4, revisions: 6 });
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(story, { minLength: story.length }), async (shuffled) => {
        const [one, other]: [Sink, Sink] = [newSink(), newSink()];
        // A courier that conflicts with the other one must retry, as the engine does.
        const couriers = [new Courier(one, shuffled.slice(0, 12)), new Courier(other, shuffled.slice(12))];
        await Promise.all(couriers.map((courier) => courier.sendAll()));
        expect((await everyTable()).map(({ revision }) => revision)).toEqual(['6', '6', '6', '6']);
        await owner.query('drop schema engagement cascade');
      }),
      { numRuns: 5 },
    );
  });

  it('keeps a tombstone of a deleted item, which no older revision can replace', async () => {
    const sink = newSink();
    const [created] = storyOf({ items: 1, revisions: 1 });
    const question = { id: 1, content: PERSONAL_DATA[0], status: 'approved' };
    const first: Change = { ...created!, sessionId: 5001, data: { attendeeId: 7, question } };
    const deleted: Change = { ...first, revision: 2, type: 'questions.deleted', data: null };
    await send(sink, [first]);
    await send(sink, [deleted]);
    await send(sink, [first]);
    const [row] = await rowsOf('questions');
    expect(row).toMatchObject({
      revision: '2',
      deleted_at: new Date(deleted.timestamp),
      session_id: '5001',
      question_id: '1',
      question_status: 'approved',
      question_content: null,
      attendee_id: null,
      raw: null,
    });
    await send(sink, [{ ...first, revision: 3 }]);
    expect(await rowsOf('questions')).toMatchObject([{ revision: '3', deleted_at: null, attendee_id: '7' }]);
  });

  it.each([
    [
      'clear-our-fields',
      [{ profile: null, id: null, attendee_code: null, raw: null, anonymous: true, deleted_at: null }],
    ],
    ['delete', []],
  ] as const)('takes back what it holds of who withdraws consent: %s', async (onForget, left) => {
    const sink = newSink({ onForget });
    const attendee: Change = {
      ...storyOf({ items: 1, revisions: 1 })[0]!,
      list: 'attendees',
      type: 'attendees.created',
      key: '7',
      data: { id: 7, attendeeCode: 'A7', Name: PERSONAL_DATA[0] },
    };
    await send(sink, [attendee]);
    expect(await rowsOf('attendees')).toMatchObject([{ anonymous: false, profile: { Name: PERSONAL_DATA[0] } }]);
    const change: Change = { ...attendee, revision: 2, type: 'attendees.updated', data: null };
    const subject = { change, previous: null, attendee: null, session: null, pigeonhole: null, object: null };
    const [planned] = await sink.plan([{ ...subject, removal: 'consent-withdrawn' }]);
    const operations = planned?.kind === 'send' ? [planned.operation] : [];
    expect(kinds((await sink.send(operations, laneOf(), signal)).outcomes)).toEqual(['delivered']);
    expect(await rowsOf('attendees')).toMatchObject(left);
    expect(JSON.stringify(await rowsOf('attendees'))).not.toContain(PERSONAL_DATA[0]);
  });

  it('rejects rows that violate a constraint, and writes all others', async () => {
    const sink = newSink();
    await send(sink, storyOf({ items: 1, revisions: 1 }));
    await owner.query(`alter table engagement.votes add constraint own_rule check (key <> 'k51')`);
    const story = storyOf({ items: 100, revisions: 1 });
    const outcomes = await send(sink, story);
    expect(outcomes.filter(({ kind }) => kind === 'delivered')).toHaveLength(99);
    expect(outcomes[51]).toMatchObject({ kind: 'rejected', cause: 'postgres:23514' });
    expect(outcomes[51]).toHaveProperty('detail', expect.stringContaining('own_rule'));
    expect((await everyTable()).map(({ key }) => key)).not.toContain('k51');
    expect(await everyTable()).toHaveLength(99);
  });

  it('writes nothing after it was stopped', async () => {
    const sink = newSink();
    const operations = await operationsFor(sink, storyOf({ items: 3, revisions: 1 }));
    expect(kinds((await sink.send(operations, laneOf(), AbortSignal.abort())).outcomes)).toEqual(
      operations.map(() => 'unsent'),
    );
    const { rows } = await owner.query(`select from pg_namespace where nspname = 'engagement'`);
    expect(rows).toHaveLength(0);
  });

  it('closes its connections soon if it is stopped midway, without writing part of a batch', async () => {
    const sink = newSink();
    await send(sink, storyOf({ items: 1, revisions: 1 }));
    await owner.query('begin; lock table engagement.votes in exclusive mode');
    const stop = new AbortController();
    const sending = sink.send(await operationsFor(sink, storyOf({ items: 10, revisions: 2 })), laneOf(), stop.signal);
    await untilWaiting(owner);
    stop.abort();
    expect(new Set(kinds((await sending).outcomes))).toEqual(new Set(['retry']));
    await owner.query('rollback');
    expect((await everyTable()).map(({ revision }) => revision)).toEqual(['1']);
  });

  /** Applies to new connections only, so existing ones are closed. */
  async function setReadOnly(value: 'on' | 'off'): Promise<void> {
    const database = new URL(url).pathname.slice(1);
    await owner.query(`alter database ${database} set default_transaction_read_only = ${value}`);
    gate.setMode('open');
  }

  const faults: Record<string, { begin(): Promise<unknown>; repair(): Promise<unknown> }> = {
    ...Object.fromEntries(
      (['cut', 'silent', 'garbage', 'answer-lost'] as GateMode[]).map((mode) => [
        `is behind a network that is ${mode}`,
        { begin: async () => gate.setMode(mode), repair: async () => gate.setMode('open') },
      ]),
    ),
    'has a table that is locked': {
      begin: () => owner.query('begin; lock table engagement.votes in exclusive mode'),
      repair: () => owner.query('rollback'),
    },
    'has lost a table': {
      begin: () => owner.query('alter table engagement.votes rename to votes_away'),
      repair: () =>
        owner.query('drop table if exists engagement.votes; alter table engagement.votes_away rename to votes'),
    },
    'allows no writing any more': {
      begin: () => setReadOnly('on'),
      repair: () => setReadOnly('off'),
    },
  };

  describe.each(Object.keys(faults))('whose database %s', (name) => {
    const fault = faults[name]!;

    it('loses nothing and reports no personal data', async () => {
      const story = storyOf({ items: 5, revisions: 4 });
      const hurried = name.endsWith('silent') || name.endsWith('locked');
      const healthy: Sink = newSink();
      await new Courier(healthy, story.slice(0, 10)).sendAll();
      const failing: Sink = hurried ? newSink({ hurried }) : healthy;
      await fault.begin();
      const outcomes = await new Courier(failing, story.slice(10)).sendOnce();
      const lines = await failing.check(signal);
      await fault.repair();
      expect(outcomes.length).toBe(10);
      if (name !== 'has lost a table') expect(kinds(outcomes)).toEqual(outcomes.map(() => 'retry'));
      await new Courier(healthy, story.slice(10)).sendAll();
      expect((await everyTable()).map(({ revision }) => revision)).toEqual(['4', '4', '4', '4', '4']);
      const said = JSON.stringify([outcomes, lines]);
      expect([...PERSONAL_DATA, 'passw0rd'].filter((text) => said.includes(text))).toEqual([]);
    });
  });

  it('has everything once even if attempts died before their outcomes were committed', async () => {
    const story = storyOf({ items: 5, revisions: 8 });
    const courier = new Courier(newSink(), story);
    await courier.sendAndDie();
    await courier.sendAndDie(AbortSignal.abort());
    await courier.sendAll();
    expect((await everyTable()).map(({ revision }) => revision)).toEqual(['8', '8', '8', '8', '8']);
  });

  it('pauses if the user is refused', async () => {
    await owner.query(`do $$ begin create role outcast nologin; exception when duplicate_object then null; end $$`);
    const outcomes = await send(newSink({ user: 'outcast' }), storyOf({ items: 2, revisions: 1 }));
    expect(outcomes[0]).toMatchObject({ kind: 'pause', cause: 'credential' });
    expect(JSON.stringify(outcomes)).not.toContain('passw0rd');
  });

  it('refuses a schema of another ledger, another sink or another owner', async () => {
    const story = storyOf({ items: 1, revisions: 1 });
    await send(newSink(), story);
    const before = await everyTable();
    const other = newSink();
    const refused = await other.send(await operationsFor(other, story), laneOf('ledger-2'), signal);
    expect(refused.outcomes).toMatchObject([{ kind: 'pause', cause: 'destination' }]);
    expect(await send(newSink({ name: 'second' }), story)).toMatchObject([{ kind: 'pause', cause: 'destination' }]);
    await owner.query('delete from engagement.pigeonpost_ledger');
    expect(await send(sinks[0] as Sink<PostgresOperation>, story)).toMatchObject([
      { kind: 'pause', cause: 'destination' },
    ]);
    await owner.query('drop table engagement.pigeonpost_ledger');
    expect(await send(newSink(), story)).toMatchObject([{ kind: 'pause', cause: 'destination' }]);
    expect(await everyTable()).toEqual(before);
  });

  it('adds columns that an older version lacked, and does not change foreign columns', async () => {
    const story = storyOf({ items: 1, revisions: 2 });
    await send(newSink(), story.slice(0, 1));
    await owner.query('alter table engagement.questions drop column question_status, add column note text');
    await owner.query(`update engagement.questions set note = 'mine'`);
    const [change] = story.slice(1);
    const data = { ...change!.data, question: { id: 9001, status: 'approved' } };
    expect(kinds(await send(newSink(), [{ ...change!, data }]))).toEqual(['delivered']);
    expect(await rowsOf('questions')).toMatchObject([{ question_status: 'approved', note: 'mine', revision: '2' }]);
  });

  it('pauses if the columns of a table have other types', async () => {
    await send(newSink(), storyOf({ items: 1, revisions: 1 }));
    await owner.query('alter table engagement.votes alter column question_id type text');
    const outcomes = await send(newSink(), storyOf({ items: 1, revisions: 1 }));
    expect(outcomes).toMatchObject([{ kind: 'pause', cause: 'destination' }]);
    expect(outcomes[0]).toHaveProperty('detail', expect.stringContaining('question_id'));
  });

  describe('behind a connection pooler', () => {
    const behind = async (mode: 'session' | 'transaction' | 'statement') => {
      const pooler = await startPooler(url, mode);
      const config = { url: new Secret(pooler.url), schema: 'engagement' };
      const sink = createPostgresSink(config, environmentOf('warehouse'), patient);
      try {
        const checked = await sink.check(signal);
        return { checked, outcomes: await send(sink, storyOf({ items: 2, revisions: 2 })) };
      } finally {
        await sink.close();
        pooler.stop();
      }
    };

    it.each(['session', 'transaction'] as const)('writes in %s mode', async (mode) => {
      const { checked, outcomes } = await behind(mode);
      expect(checked.filter(({ ok }) => !ok)).toEqual([]);
      expect(new Set(kinds(outcomes))).toEqual(new Set(['delivered']));
    });

    it('pauses in statement mode, and its check says the same', async () => {
      const { checked, outcomes } = await behind('statement');
      expect(checked).toEqual([{ ok: false, text: expect.stringContaining('in statement mode') }]);
      expect(outcomes[0]).toMatchObject({ kind: 'pause', cause: 'destination', detail: checked[0]!.text });
    });
  });

  describe('for a user without the right to create objects', () => {
    beforeEach(async () => {
      await owner.query(`do $$ begin create role writer login; exception when duplicate_object then null; end $$`);
    });

    it('pauses, and its check prints the statements that fix it', async () => {
      const sink = newSink({ user: 'writer' });
      const story = storyOf({ items: 5, revisions: 1 });
      expect(await send(sink, story)).toMatchObject(story.map(() => ({ kind: 'pause', cause: 'destination' })));
      const lines = await sink.check(signal);
      expect(lines.map(({ ok }) => ok)).toEqual([true, false]);
      await owner.query(lines[1]!.text.split('\n').slice(1).join('\n'));
      expect((await sink.check(signal)).map(({ ok }) => ok)).toEqual([true, true]);
      expect(kinds(await send(sink, story))).toEqual(story.map(() => 'delivered'));
    });

    it('reports the missing rights', async () => {
      await send(newSink(), storyOf({ items: 1, revisions: 1 }));
      await owner.query('grant usage on schema engagement to writer');
      await owner.query('grant select, insert, update, delete on all tables in schema engagement to writer');
      await owner.query('revoke delete on engagement.votes from writer');
      const lines = await newSink({ user: 'writer' }).check(signal);
      expect(lines.map(({ ok }) => ok)).toEqual([true, true, false]);
      expect(lines[2]!.text).toContain('votes (DELETE)');
    });
  });

  it('leaves nothing behind after a check', async () => {
    const lines = await newSink().check(signal);
    expect(lines.map(({ ok }) => ok)).toEqual([true, true]);
    expect(lines[1]!.text).toContain('does not exist yet: pigeonpost creates what is missing');
    const { rows } = await owner.query(`select from pg_namespace where nspname = 'engagement'`);
    expect(rows).toHaveLength(0);
  });

  describe('over TLS', () => {
    const overTls = async (sslmode: string, ca?: string): Promise<Outcome> => {
      const reached = new URL(url);
      reached.hostname = 'localhost';
      reached.searchParams.set('sslmode', sslmode);
      const network = { allowHosts: [], ...(ca !== undefined && { ca }) };
      const config = { url: new Secret(reached.href), schema: 'engagement' };
      const sink = createPostgresSink(config, environmentOf('warehouse', { network }), patient);
      sinks.push(sink);
      return (await send(sink, storyOf({ items: 1, revisions: 1 })))[0]!;
    };

    it('reports that the server does not support it, and what to do', async () => {
      expect(await overTls('require')).toMatchObject({
        kind: 'retry',
        detail: expect.stringContaining('sslmode=disable'),
      });
    });

    describe('if the server supports it', () => {
      beforeAll(async () => {
        const superuser = new Client({ connectionString: server.url });
        await superuser.connect();
        for (const [file, text] of [
          ['server.crt', localhostCertificate],
          ['server.key', localhostKey],
        ]) {
          // PostgreSQL refuses a key that others may read
          const program = `umask 077; base64 -d > ${file}`;
          const base64 = Buffer.from(text!).toString('base64');
          await superuser.query(`copy (select '${base64}') to program '${program}'`);
        }
        await superuser.query('alter system set ssl = on');
        await superuser.query('select pg_reload_conf()');
        await superuser.end();
        await until('the server offers TLS', async () => {
          const client = new Client({ connectionString: server.url, ssl: { rejectUnauthorized: false } });
          client.on('error', () => undefined);
          return await client.connect().then(
            () => client.end().then(() => true),
            () => false,
          );
        });
      });

      it('trusts the certificate authority in "network.ca"', async () => {
        expect(await overTls('verify-full', localhostCertificate)).toEqual({ kind: 'delivered' });
      });

      it.each(['verify-full', 'require', 'prefer', 'verify-ca'])(
        'trusts no other authority with sslmode=%s, regardless of the environment, and says what to do',
        async (sslmode) => {
          const { env } = runInThisContext('process') as NodeJS.Process; // Node's own: Jest gives tests a copy
          env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
          try {
            expect(await overTls(sslmode)).toMatchObject({
              kind: 'retry',
              detail: expect.stringMatching(/network\.ca.*sslrootcert.*sslmode=no-verify/),
            });
          } finally {
            delete env['NODE_TLS_REJECT_UNAUTHORIZED'];
          }
        },
      );

      it('requires no trusted certificate with sslmode=no-verify', async () => {
        expect(await overTls('no-verify')).toEqual({ kind: 'delivered' });
      });

      it('does not encrypt with sslmode=disable', async () => {
        expect(await overTls('disable')).toEqual({ kind: 'delivered' });
      });
    });
  });

  it('answers the queries of its guide', async () => {
    const at = '2026-11-21T09:30:00Z';
    const session = { id: 5001, name: 'Opening' };
    const item = (list: string, key: string, data: Change['data']): Change => ({
      ...storyOf({ items: 1, revisions: 1 })[0]!,
      ...(list === 'pigeonholes' && { pigeonholeId: 0 }),
      type: `${list}.created`,
      list,
      key,
      data,
    });
    await send(newSink(), [
      item('pigeonholes', '101', { id: 101, name: 'ACME 2026' }),
      item('sessions', '5001', session),
      item('attendees', '7', { id: 7, Name: 'Ada' }),
      item('questions', '9001', { attendeeId: 7, createdAt: at, session, question: { id: 9001, content: 'Lunch?' } }),
      item('votes', 'a', { attendeeId: 7, createdAt: at, session, question: { id: 9001, content: 'Lunch?' } }),
      item('votes', 'b', { createdAt: at, session, question: { id: 9001, content: 'Lunch?' } }),
      item('poll-mcq-votes', '1', {
        id: 1,
        attendee: { anonymous: true },
        question: { id: 3, content: 'Tea?' },
        option: { id: 4, content: 'Yes' },
      }),
    ]);
    const guide = readFileSync(join(__dirname, '../../../docs/sinks/postgres.md'), 'utf8');
    const queries = [...guide.matchAll(/```sql\n(.*?)```/gs)].map(([, query]) => query!);
    const answers: unknown[][] = [];
    for (const query of queries) answers.push((await owner.query(query)).rows);
    expect(answers).toMatchObject([
      [
        { question_content: 'Lunch?', name: 'Ada' },
        { question_content: 'Lunch?', name: null },
      ],
      [{ pigeonhole: 'ACME 2026', session: 'Opening', questions: '1', votes: '2' }],
      [{ question_content: 'Tea?', option_content: 'Yes', votes: '1', anonymous_votes: '1' }],
      [{ key: '9001', revision: '1' }],
    ]);
  });

  it('explains each table and column in the catalogue', async () => {
    await send(newSink(), storyOf({ items: 1, revisions: 1 }));
    const { rows } = await owner.query<{ name: string }>(
      `select c.relname || coalesce('.' || a.attname, '') as name
       from pg_class c left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where c.relnamespace = 'engagement'::regnamespace and c.relkind = 'r' and c.relname <> 'pigeonpost_ledger'
         and (col_description(c.oid, a.attnum) is null or obj_description(c.oid) is null)`,
    );
    expect(rows).toEqual([]);
  });
});

async function untilWaiting(client: Client): Promise<void> {
  await until('a statement waits for a lock', async () => {
    const { rows } = await client.query(`select from pg_stat_activity where wait_event_type = 'Lock'`);
    return rows.length > 0;
  });
}
