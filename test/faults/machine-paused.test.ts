import type { Collaborators } from '../../cycles/collaborators.js';
import { deliverToSink } from '../../delivering/deliver-to-sink.js';
import { importRegistrants } from '../../importing/import-registrants.js';
import { ServiceGate } from '../../requests/service-gate.js';
import { forecastNeeds } from '../../reading/demand.js';
import { openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import type { Sink } from '../../sinks/sink.js';
import { people, posts as bulkPosts, registered, rowsOf, stage as stageImport, turn } from '../imports/importing.js';
import { countedDatabase, delayedDatabase, heldDatabase } from '../kit/held-database.js';
import { type BusyClient, openBusyClient } from '../kit/busy-client.js';
import { attendee } from '../kit/items.js';
import { JumpingClocks } from '../kit/jumping-clocks.js';
import { passTime } from '../kit/pass-time.js';
import { applyAll, applyOnce, lookUpAfterMs, posts, states, summit } from '../kit/provisioning.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { archived, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { until } from '../until.js';

/**
 * The machine is suspended in the middle of something that only one process may do. Its timers do not run, and another
 * process takes over. When it wakes up, it must notice that it no longer holds its lease.
 */
const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: pigeonhole };
const never = new AbortController().signal;
const many = Array.from({ length: 20 }, (_, index) => index + 1);
const onlyPigeonhole = summit.slice(0, summit.indexOf('sessions:'));

const pauses: [string, (clocks: JumpingClocks) => void][] = [
  ['that its monotonic clock does not count', (clocks) => (clocks.wallAheadMs += 60_000)],
  ['that its wall clock does not show', (clocks) => (clocks.monotonicAheadMs += 60_000)],
];

/** Wraps a sink that stops in the middle of `send`, after some of its calls, until the test releases it. */
function stoppable(inner: Sink): { sink: Sink; isStopped: () => boolean; letGo: () => void } {
  let stopped = false;
  let letGo!: () => void;
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const send: Sink['send'] = async (operations, lane, signal) => {
    if (lane.pigeonholeId === 0) return await inner.send(operations, lane, signal);
    const first = await inner.send(operations.slice(0, 4), lane, signal);
    stopped = true;
    await gate;
    const memory = { ...lane.memory, ...first.memory };
    const rest = await inner.send(operations.slice(4), { ...lane, memory }, signal);
    return { outcomes: [...first.outcomes, ...rest.outcomes], memory: { ...first.memory, ...rest.memory } };
  };
  return { sink: { ...inner, send }, isStopped: () => stopped, letGo };
}

/** Prepares the process that will be paused: the sink `name` stops in the middle, and the clocks can jump. */
function pausable(scene: Scene, name: string, clocks: JumpingClocks) {
  const open = scene.deps.sinks.get(name)!;
  const stopped = stoppable(open.sink);
  const deps: Collaborators = { ...scene.deps, clocks, sinks: new Map([[name, { ...open, sink: stopped.sink }]]) };
  return { deps, ...stopped };
}

const busyClients: BusyClient[] = [];
afterEach(async () => {
  for (const busy of busyClients.splice(0)) await busy.close();
});

async function openBusy({ sandbox }: Stage): Promise<BusyClient> {
  const busy = await openBusyClient(sandbox.baseUrl);
  busyClients.push(busy);
  return busy;
}

/** Expects that everything was sent once, and that the successor then sent a newer revision. */
async function fill(stage: Stage): Promise<void> {
  await stage.put('attendees', ...many.map((id) => attendee(id)));
}
async function edit(stage: Stage): Promise<void> {
  for (const id of many) await stage.patch('attendees', id, { Name: `Edited ${id}` });
  await stage.sweepsAreDue();
  await stage.db.query('update lanes set lease_expires_at = now() where owner is not null');
}

describe.each(kinds)('after a pause of the machine, on %s', (kind) => {
  it.each(pauses)('%s, the old holder of a lane sends nothing more to a webhook', async (_, jump) => {
    const stage = await stages.open(kind);
    await fill(stage);
    const scene = await stage.webhookScene();
    await scene.discover();
    await scene.read(place);
    const clocks = new JumpingClocks();
    const late = pausable(scene, 'hooks', clocks);
    const sending = deliverToSink(late.deps, 'hooks', never);
    await until('the old holder is stopped', () => late.isStopped());
    await edit(stage);
    await scene.settle();
    const before = stage.received('attendees').length;
    jump(clocks);
    late.letGo();
    await sending;

    expect(scene.logText()).toContain('"error":"LedgerError stale"');
    expect(stage.received('attendees')).toHaveLength(before);
    const last = new Map(stage.received('attendees').map(({ change }) => [change.key, change.revision]));
    expect([...last.values()]).toEqual(many.map(() => 2));
  });

  it.each(pauses)('%s, the old holder of a lane removes no line from a file', async (_, jump) => {
    const stage = await stages.open(kind);
    await fill(stage);
    const scene = await stage.scene();
    await scene.discover();
    await scene.read(place);
    const clocks = new JumpingClocks();
    const late = pausable(scene, 'archive', clocks);
    const sending = deliverToSink(late.deps, 'archive', never);
    await until('the old holder is stopped', () => late.isStopped());
    await edit(stage);
    await scene.settle();
    const before = archived(scene, 'attendees');
    jump(clocks);
    late.letGo();
    await sending;

    expect(archived(scene, 'attendees')).toEqual(before);
    expect(before).toHaveLength(2 * many.length);
    await stage.retriesAreDue();
    await scene.settle();
    expect(archived(scene, 'attendees')).toEqual(before);
  });

  it.each(pauses)('%s, an import that another process has taken over sends nothing', async (_, jump) => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    await scene.discover();
    const id = await stageImport(scene, rowsOf(...people(30)));
    const held = heldDatabase(stage.db, (sql) => /^\s*(insert into|update) quotas/.test(sql));
    const ledger = await openLedger(held.db, testKey);
    const clocks = new JumpingClocks();
    const late = { ...scene.deps, clocks, ledger, gate: new ServiceGate(ledger, scene.deps.log, forecastNeeds) };
    const sending = importRegistrants(late, id, never).catch((error: unknown) => error);
    await until('the old sender waits for its permit', () => held.isHeld());
    jump(clocks);
    while ((await turn(scene, id)).state !== 'finished')
      await scene.ledger.db.query('update import_chunks set due_at = now()');
    const before = await bulkPosts(stage);
    held.letGo();

    expect(await sending).toMatchObject({ name: 'LedgerError', kind: 'stale' });
    expect(before).toBeGreaterThan(0);
    expect(await bulkPosts(stage)).toBe(0);
    expect(await registered(stage)).toHaveLength(30);
  });

  it.each(pauses)('%s, an import sends no request that waited for a connection', async (_, jump) => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    await scene.discover();
    const id = await stageImport(scene, rowsOf(...people(30)));
    const busy = await openBusy(stage);
    const confirmed = countedDatabase(stage.db, (sql) => sql.startsWith('select 1 from imports where number'));
    const clocks = new JumpingClocks();
    const ledger = await openLedger(confirmed.db, testKey);
    const late = { ...scene.deps, clocks, ledger, clients: new Map([['acme', busy.client]]) };
    const sending = importRegistrants(late, id, never).catch((error: unknown) => error);
    await until('the request waits for the connection', () => busy.isWaiting() && confirmed.count() === 1);
    jump(clocks);
    while ((await turn(scene, id)).state !== 'finished')
      await scene.ledger.db.query('update import_chunks set due_at = now()');
    const before = await bulkPosts(stage);
    const permits = async () => (await stage.db.query<{ used: number }>('select used_imports as used from quotas'))[0]!;
    const { used } = await permits();
    busy.letGo();

    expect(await sending).toMatchObject({ name: 'LedgerError', kind: 'stale' });
    expect(before).toBeGreaterThan(0);
    expect(await bulkPosts(stage)).toBe(0);
    expect(await registered(stage)).toHaveLength(30);
    expect(await permits()).toEqual({ used: used - 1 });
  });

  it.each(pauses)('%s, an intent whose request waited for a connection does not create an event', async (_, jump) => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    const busy = await openBusy(stage);
    const clocks = new JumpingClocks();
    const late = { ...scene, deps: { ...scene.deps, clocks, clients: new Map([['acme', busy.client]]) } };
    const applying = applyOnce(late, onlyPigeonhole);
    await until('the request waits for the connection', () => busy.isWaiting());
    jump(clocks);
    busy.letGo();

    expect(states(await applying)).toEqual(['pigeonhole: unknown']);
    expect(await posts(stage)).toEqual([]);
    await applyAll(stage, scene, onlyPigeonhole);
    expect(await posts(stage)).toEqual(['/v2/pigeonholes']);
  });

  it.each(pauses)('%s, an intent that was considered lost does not create an event', async (_, jump) => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    const clocks = new JumpingClocks();
    const db = delayedDatabase(stage.db, async (sql) => {
      if (!sql.startsWith('insert into provisioned')) return;
      jump(clocks); // the machine sleeps after the commit was confirmed
    });
    const late = { ...scene, deps: { ...scene.deps, clocks, ledger: await openLedger(db, testKey) } };
    await applyOnce(late, onlyPigeonhole);
    expect(await posts(stage)).toEqual([]);
    await passTime(stage.db, lookUpAfterMs);
    await applyAll(stage, scene, onlyPigeonhole);
    expect(await posts(stage)).toEqual(['/v2/pigeonholes']);
    expect(states(await applyOnce(scene, onlyPigeonhole))).toEqual(['pigeonhole: exists']);
  });
});
