import { setMaxListeners } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { stayWithSink } from '../../delivering/stay-with-sink.js';
import { useConfiguration } from '../../ledger/configurations.js';
import { assignReaders, readerNumbers } from '../../ledger/readers.js';
import { waitWorkspace, workspaceAnswers } from '../../ledger/workspaces.js';
import { act } from '../../operations/act.js';
import { CycleFailures } from '../../operations/find-problems.js';
import { readGroup } from '../../reading/read-group.js';
import type { Sink } from '../../sinks/sink.js';
import type { StayResult } from '../../cycles/cycle-results.js';
import { RoundQueue } from '../../cycles/round-queue.js';
import { sinkWake, Wakes } from '../../cycles/wakes.js';
import { countedDatabase, heldDatabase, silentDatabase } from '../kit/held-database.js';
import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { archived, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { starterOf } from '../kit/starter-of.js';
import { stopTimers } from '../kit/stop-timers.js';
import { until } from '../until.js';

const stages = useStages();
const never = new AbortController().signal;
setMaxListeners(0, never);
const ofPigeonhole = { kind: 'pigeonhole', name: `acme/${pigeonhole}` } as const;

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** A process that stays with the only reader of a stage. */
interface Staying {
  readonly deps: Scene['deps'];
  readonly ended: Promise<StayResult>;
  /** Does what an orderly stop of the process does. */
  readonly stop: () => void;
}

function stay(scene: Scene, number: number, more: Partial<Scene['deps']> = {}): Staying {
  const stopping = new AbortController();
  const wakes = new Wakes(null, scene.deps.log);
  const deps = { ...scene.deps, wakes, stopping: stopping.signal, ...more };
  const ended = readGroup(deps, number, never);
  ended.catch(() => undefined);
  return { deps, ended, stop: () => stopping.abort() };
}

/** Everything of the stage is read, and nothing is due for an hour. */
async function settled(stage: Stage, sync?: string): Promise<{ scene: Scene; number: number }> {
  await stage.put('attendees', attendee(1));
  const scene = await stage.scene(sync === undefined ? {} : { sync });
  await scene.settle();
  await stage.db.query(
    `update streams set due_at = now() + interval '1 hour', sweep_due_at = now() + interval '1 day'`,
  );
  await assignReaders(scene.ledger);
  await stage.requests(); // forgets them
  const [number] = await readerNumbers(scene.ledger);
  return { scene, number: number! };
}

async function storedAttendees(stage: Stage): Promise<number> {
  const rows = await stage.db.query(`select 1 from items where list = 'attendees' and payload is not null`);
  return rows.length;
}

/** Returns key and revision of each change of an attendee. */
async function changesOf(stage: Stage): Promise<string[]> {
  const rows = await stage.db.query<{ change: string }>(
    `select key || ' ' || revision as change from changes where list = 'attendees' order by 1`,
  );
  return rows.map(({ change }) => change);
}

async function ownerOf(stage: Stage): Promise<string | null> {
  const [row] = await stage.db.query<{ owner: string | null }>('select owner from readers');
  return row!.owner;
}

async function inFlight(stage: Stage): Promise<number> {
  const { requests } = await stage.control('GET', 'state');
  return (requests as { inFlight: number }).inFlight;
}

async function attendeesRead(stage: Stage): Promise<boolean> {
  return (await stage.requests()).some(({ path }) => path.includes('attendees'));
}

describe.each(kinds)('a stay with pigeonholes, on %s', (kind) => {
  it('reads a pigeonhole when it is due and when an operator asks, and not while it is paused', async () => {
    const stage = await stages.open(kind);
    const { scene, number } = await settled(stage);
    const { deps, ended, stop } = stay(scene, number);
    const starter = { ...starterOf(deps), wakeReaders: () => deps.wakes.wakeAll('readers') };
    const ask = (verb: 'poll-now' | 'pause' | 'resume'): Promise<unknown> =>
      act({ deps, starter }, { ...ofPigeonhole, do: verb });
    await stage.put('attendees', attendee(2));
    await ask('poll-now');
    await until('the new attendee is stored', async () => (await storedAttendees(stage)) === 2);

    await ask('pause');
    await stage.put('attendees', attendee(3));
    await stage.pollsAreDue();
    await ask('resume');
    await until('the attendee is stored after the pause', async () => (await storedAttendees(stage)) === 3);
    stop();
    expect(await ended).toEqual({ state: 'working', reason: 'stopping' });
  });

  it('notices a request without a wake, with its next beat', async () => {
    const stage = await stages.open(kind);
    const { scene, number } = await settled(stage);
    const { deps, ended, stop } = stay(scene, number);
    await stage.put('attendees', attendee(2));
    await act({ deps, starter: starterOf(deps) }, { do: 'poll-now', kind: 'workspace', name: 'acme' });
    await act({ deps, starter: starterOf(deps) }, { do: 'poll-now', kind: 'pigeonhole', name: `acme/${pigeonhole}` });
    await until('the new attendee is stored', async () => (await storedAttendees(stage)) === 2);
    stop();
    await ended;
  });

  it('returns its reader when the process stops, also in the middle of a request', async () => {
    const stage = await stages.open(kind);
    const { scene, number } = await settled(stage);
    await stage.fault({ kind: 'delay', path: 'attendees', ms: 60_000 });
    await stage.pollsAreDue();
    const { ended, stop } = stay(scene, number);
    await until('the slow request is in progress', async () => (await inFlight(stage)) === 1);
    stop();
    expect(await ended).toEqual({ state: 'working', reason: 'stopping' });
    expect(await ownerOf(stage)).toBeNull();
  });

  it('ends when another stay has taken its reader, and asks for nothing afterwards', async () => {
    const stage = await stages.open(kind);
    const { scene, number } = await settled(stage);
    const first = stay(scene, number, { owner: 'first' });
    await until('the first stay has started', async () => (await ownerOf(stage)) === 'first');
    const second = stay(scene, number, { owner: 'second' });
    expect(await first.ended).toEqual({ state: 'working', reason: 'superseded' });
    expect(await ownerOf(stage)).toBe('second');
    second.stop();
    await second.ended;
  });

  it('ends for another configuration, so that the next stay uses it', async () => {
    const stage = await stages.open(kind);
    const { scene, number } = await settled(stage);
    const { ended } = stay(scene, number);
    await until('the stay has started', async () => (await ownerOf(stage)) !== null);
    await useConfiguration(scene.ledger, { another: true }, true);
    await expect(ended).rejects.toMatchObject({ kind: 'configuration' });
    expect(await ownerOf(stage)).toBeNull();
  });

  it('looks again for a pause that was stored while it looked for one', async () => {
    const stage = await stages.open(kind);
    const { scene, number } = await settled(stage);
    const beats = countedDatabase(stage.db, (sql) => sql.includes('from readers r left join'));
    const looks = countedDatabase(beats.db, (sql) => sql.includes('from pauses'));
    const held = heldDatabase(looks.db, (sql) => sql.includes('not exists (select 1 from lanes'));
    const { ended, stop } = stay(scene, number, { ledger: { ...scene.ledger, db: held.db } });
    await until('the stay has found no pause, and looks for lanes', () => held.isHeld());
    await act({ deps: scene.deps, starter: starterOf(scene.deps) }, { ...ofPigeonhole, do: 'pause' });
    const heard = beats.count() + 2;
    await until('it has heard that something has changed', () => beats.count() >= heard);
    held.letGo();
    await until('it looks for pauses again', () => looks.count() === 2);
    stop();
    await ended;
  });

  it('reads again as soon as its workspace need no longer wait', async () => {
    const stage = await stages.open(kind);
    const { scene, number } = await settled(stage);
    await waitWorkspace(scene.ledger, 'acme', { reason: 'throttled', waitMs: 3_600_000, count: 1 });
    await stage.put('attendees', attendee(2));
    await stage.pollsAreDue();
    let rounds = 0;
    const onCycle = (cycle: string): void => void (rounds += cycle.startsWith('read ') ? 1 : 0);
    const { ended, stop } = stay(scene, number, { onCycle });
    await until('the stay waits', () => rounds > 0);
    expect(await attendeesRead(stage)).toBe(false);
    await workspaceAnswers(scene.ledger, 'acme');
    await until('the new attendee is stored', async () => (await storedAttendees(stage)) === 2);
    stop();
    await ended;
  });

  it('reads a pigeonhole again whose event days have changed', async () => {
    const stage = await stages.open(kind);
    const { scene, number } = await settled(stage);
    await scene.discover();
    const { ended, stop } = stay(scene, number);
    await until('the stay has started', async () => (await ownerOf(stage)) !== null);
    await stage.put('attendees', attendee(2));
    await stage.patch('pigeonholes', pigeonhole, { endDate: '2099-01-01' });
    await stage.db.query(`update streams set due_at = now(), sweep_due_at = now() where list = 'pigeonholes'`);
    await scene.discover();
    await until('the new attendee is stored', async () => (await storedAttendees(stage)) === 2);
    stop();
    await ended;
  });

  it('neither loses nor doubles anything if the store is silent for a while', async () => {
    const stage = await stages.open(kind);
    const { scene, number } = await settled(stage, 'every: { live: 1s }');
    const silent = silentDatabase(stage.db);
    const { ended, stop } = stay(scene, number, { ledger: { ...scene.ledger, db: silent.db } });
    await stage.pollsAreDue();
    await until('the stay reads', () => attendeesRead(stage));
    silent.silence();
    await stage.put('attendees', attendee(2));
    await until('rounds and beats wait for the store', () => silent.waiting() > 1);
    silent.answer();
    await until('the new attendee is stored', async () => (await storedAttendees(stage)) === 2);
    stop();
    expect(await ended).toEqual({ state: 'working', reason: 'stopping' });
    expect(await changesOf(stage)).toEqual(['1 1', '2 1']);
  });

  it('ends if the store is silent for 10 s, and what it has started doubles nothing beside the next stay', async () => {
    const stage = await stages.open(kind);
    const { scene, number } = await settled(stage, 'every: { live: 1s }');
    const silent = silentDatabase(stage.db);
    const ledger = { ...scene.ledger, db: silent.db };
    const first = stay(scene, number, { ledger, owner: 'first' });
    await stage.pollsAreDue();
    await until('the stay reads', () => attendeesRead(stage));
    silent.silence();
    await stage.put('attendees', attendee(2));
    await until('rounds and beats wait for the store', () => silent.waiting() > 1);
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 10_000);
    await expect(first.ended).rejects.toThrow('the store does not answer');
    const second = stay(scene, number, { ledger, owner: 'second' });
    silent.answer();
    await until('the new attendee is stored', async () => (await storedAttendees(stage)) === 2);
    expect(await ownerOf(stage)).toBe('second');
    second.stop();
    expect(await second.ended).toEqual({ state: 'working', reason: 'stopping' });
    expect(await changesOf(stage)).toEqual(['1 1', '2 1']);
  });

  it('tries a round again that failed, and reports it until it succeeds', async () => {
    const stage = await stages.open(kind);
    const { scene, number } = await settled(stage);
    const cycles: (string | null)[] = [];
    let failures = 1;
    const db = {
      ...stage.db,
      query: (async (sql: string, params?: never) => {
        if (sql.includes('update streams set epoch') && failures-- > 0) throw new Error('the store was full');
        return await stage.db.query(sql, params);
      }) as typeof stage.db.query,
      transaction: stage.db.transaction.bind(stage.db),
    };
    const onCycle = (cycle: string, failure: string | null): void => {
      if (cycle.startsWith('read ')) cycles.push(failure);
    };
    await stage.put('attendees', attendee(2));
    await stage.pollsAreDue();
    const { ended, stop } = stay(scene, number, { onCycle, ledger: { ...scene.ledger, db } });
    await until('the round has succeeded', async () => (await storedAttendees(stage)) === 2 && cycles.at(-1) === null);
    expect(cycles[0]).toBe('the store was full');
    stop();
    await ended;
  });

  it('ends the failure of an earlier stay as soon as the store answers, not when it ends itself', async () => {
    const stage = await stages.open(kind);
    const { scene, number } = await settled(stage);
    const failures = new CycleFailures(() => performance.now());
    failures.note(`reader ${number}`, 'another configuration was current');
    const { ended, stop } = stay(scene, number, { onCycle: (cycle, failure) => failures.note(cycle, failure) });
    await until('the failure has ended', () => failures.present === null);
    stop();
    await ended;
  });

  it('finishes when no sync selects its pigeonholes any more', async () => {
    const stage = await stages.open(kind);
    const { scene, number } = await settled(stage);
    const { ended } = stay(scene, number);
    await until('the stay has started', async () => (await ownerOf(stage)) !== null);
    await stage.db.query('update selections set archived_at = now()');
    await assignReaders(scene.ledger);
    expect(await ended).toEqual({ state: 'finished', reason: 'empty' });
    expect(await readGroup(scene.deps, number, never)).toEqual({ state: 'finished', reason: 'empty' });
  });
});

/** Stays of two processes on one server, which may both believe that they hold the group. */
const onServer = kinds.filter((kind) => kind === 'postgres');
(onServer.length > 0 ? describe : describe.skip)('a stay that continues after another one has taken its group', () => {
  it('stores no page that arrived before, as on a machine that was paused', async () => {
    const stage = await stages.open('postgres');
    const { scene, number } = await settled(stage, 'every: { live: 1s }');
    await stage.put('attendees', attendee(2), attendee(3));
    await stage.pollsAreDue();
    const paused = heldDatabase(stage.db, (sql) => /from pigeonholes p join streams s .*for no key update$/s.test(sql));
    const first = stay(scene, number, { ledger: { ...scene.ledger, db: paused.db }, owner: 'first' });
    await until('a page has arrived, and nothing of it is stored', () => paused.isHeld());
    await stage.remove('attendees', 3); // only the first has seen it
    const second = stay(scene, number, { owner: 'second' });
    await until('the other stay has stored the list', async () => (await storedAttendees(stage)) === 2);
    await stage.patch('attendees', 2, { Name: 'Edited' });
    await until('the other stay has stored the edit', async () => (await changesOf(stage)).length === 3);
    const epochs = await epochsOf(stage);
    paused.letGo();
    expect(await first.ended).toEqual({ state: 'working', reason: 'superseded' });
    await until('the transaction of the first has ended', async () => (await openTransactions(stage)) === 0);
    expect(await changesOf(stage)).toEqual(['1 1', '2 1', '2 2']);
    expect(await ownerOf(stage)).toBe('second');
    expect(await epochsOf(stage)).toEqual(epochs); // the first has acquired no stream since
    second.stop();
    expect(await second.ended).toEqual({ state: 'working', reason: 'stopping' });
  });
});

/** Returns the epoch of each stream, which increases whenever a stay acquires it. */
async function epochsOf(stage: Stage): Promise<object[]> {
  return await stage.db.query('select id, epoch from streams order by id');
}

async function openTransactions(stage: Stage): Promise<number> {
  const rows = await stage.db.query(
    `select 1 from pg_stat_activity
     where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`,
  );
  return rows.length;
}

/** Waits for a condition without a timer, because the timers are stopped. */
async function untilTurn(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
    await nextTurn();
  }
}

describe.each(kinds)('the stays of a process, on %s', (kind) => {
  it('end within two seconds when it stops, also 40 in the middle of requests', async () => {
    const stage = await stages.open(kind, { pigeonholes: 40 });
    const scene = await stage.scene();
    await scene.discover();
    await assignReaders(scene.ledger);
    await stage.db.query('insert into readers select from generate_series(1, 40)');
    await stage.db.query(
      `update pigeonholes p set reader = (select max(number) - 40 from readers) + n.row
       from (select pigeonhole_number, row_number() over (order by pigeonhole_number) as row from pigeonholes
         where reader is not null) n
       where n.pigeonhole_number = p.pigeonhole_number`,
    );
    const numbers = await stage.db.query<{ reader: number }>('select reader from pigeonholes where reader is not null');
    await stage.requests();
    await stage.fault({ kind: 'delay', path: 'sessions', ms: 600_000 });
    stopTimers();
    const stopping = new AbortController();
    setMaxListeners(0, stopping.signal);
    const wakes = new Wakes(null, scene.deps.log);
    const deps = { ...scene.deps, wakes, rounds: new RoundQueue(40), stopping: stopping.signal };
    const results: unknown[] = [];
    const note = (result: unknown): void => void results.push(result);
    for (const { reader } of numbers) readGroup(deps, reader, never).then(note, note);
    for (let n = 0; n < 5; n += 1) stayWithSink(deps, 'archive', never).then(note, note);
    await untilTurn('all connections are busy, and the other requests wait for one', async () => {
      const held = await stage.db.query(`select 1 from streams where epoch > 0 and list = 'sessions'`);
      return (await inFlight(stage)) === 8 && held.length === 40;
    });
    stopping.abort();
    for (let passedMs = 0; passedMs < 2000; passedMs += 100) {
      for (let turn = 0; turn < 10; turn += 1) await nextTurn();
      jest.advanceTimersByTime(100);
    }
    await untilTurn('all stays have ended', () => results.length === 45);
    expect(results).toEqual(Array(45).fill({ state: 'working', reason: 'stopping' }));
    expect(await stage.db.query('select number from readers where owner is not null')).toEqual([]);
  });
});

describe.each(kinds)('a stay with a sink, on %s', (kind) => {
  it('ends a call that is still in progress a second after its process stops', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    let isCalling = false;
    const scene = await stage.scene({
      openSinks: (made) => {
        const open = made.get('archive')!;
        const send: Sink['send'] = async (operations, _lane, signal) => {
          isCalling = true;
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          return { outcomes: operations.map(() => ({ kind: 'unsent' })) };
        };
        return new Map([['archive', { ...open, sink: { ...open.sink, send } }]]);
      },
    });
    await scene.discover();
    await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    const stopping = new AbortController();
    const ended = stayWithSink({ ...scene.deps, stopping: stopping.signal }, 'archive', never);
    await until('a call is in progress', () => isCalling);
    stopping.abort();
    expect(await ended).toEqual({ state: 'working', reason: 'stopping' });
  });

  it('delivers what it is woken for, and ends when the process stops', async () => {
    const stage = await stages.open(kind);
    const { scene } = await settled(stage);
    const stopping = new AbortController();
    const wakes = new Wakes(null, scene.deps.log);
    let cycles = 0;
    const onCycle = (): void => void (cycles += 1);
    const ended = stayWithSink({ ...scene.deps, wakes, onCycle, stopping: stopping.signal }, 'archive', never);
    await until('the first cycle has ended', () => cycles === 1);
    await stage.put('attendees', attendee(2));
    await stage.pollsAreDue();
    await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    wakes.wake(sinkWake('archive'));
    await until('the attendee is delivered', () => archived(scene, 'attendees', 2).length === 1);
    stopping.abort();
    expect(await ended).toEqual({ state: 'working', reason: 'stopping' });
  });

  it('finishes when the sink is no longer configured', async () => {
    const stage = await stages.open(kind);
    const { scene } = await settled(stage);
    expect(await stayWithSink({ ...scene.deps, sinks: new Map() }, 'archive', never)).toEqual({
      state: 'finished',
      reason: 'removed',
    });
  });
});
