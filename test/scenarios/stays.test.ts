import { stayWithSink } from '../../delivering/stay-with-sink.js';
import { useConfiguration } from '../../ledger/configurations.js';
import { assignReaders, readerNumbers } from '../../ledger/readers.js';
import { act } from '../../operations/act.js';
import { readGroup } from '../../reading/read-group.js';
import type { StayResult } from '../../work/cycle-results.js';
import { sinkWake, Wakes } from '../../work/wakes.js';
import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { archived, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { starterOf } from '../kit/starter-of.js';
import { until } from '../until.js';

const stages = useStages();
const never = new AbortController().signal;

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
async function settled(stage: Stage): Promise<{ scene: Scene; number: number }> {
  await stage.put('attendees', attendee(1));
  const scene = await stage.scene();
  await scene.settle();
  await stage.db.query(
    `update streams set due_at = now() + interval '1 hour', sweep_due_at = now() + interval '1 day'`,
  );
  await assignReaders(scene.ledger);
  const [number] = await readerNumbers(scene.ledger);
  return { scene, number: number! };
}

async function storedAttendees(stage: Stage): Promise<number> {
  const rows = await stage.db.query(`select 1 from items where list = 'attendees' and payload is not null`);
  return rows.length;
}

async function ownerOf(stage: Stage): Promise<string | null> {
  const [row] = await stage.db.query<{ owner: string | null }>('select owner from readers');
  return row!.owner;
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
      act({ deps, starter }, { do: verb, kind: 'pigeonhole', name: `acme/${pigeonhole}` });
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
    await until('the slow request is in progress', async () => (await ownerOf(stage)) !== null);
    await until('the stay has asked for attendees', () => attendeesRead(stage));
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
    const onCycle = (_: string, failure: string | null): void => void cycles.push(failure);
    await stage.put('attendees', attendee(2));
    await stage.pollsAreDue();
    const { ended, stop } = stay(scene, number, { onCycle, ledger: { ...scene.ledger, db } });
    await until('the round has succeeded', async () => (await storedAttendees(stage)) === 2 && cycles.at(-1) === null);
    expect(cycles[0]).toBe('the store was full');
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

describe.each(kinds)('a stay with a sink, on %s', (kind) => {
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
