import type { ServiceGate } from '../../requests/service-gate.js';
import { kinds } from '../kit/scenario-kinds.js';
import { ProcessDied } from '../kit/mortal-database.js';
import { useStages } from '../kit/stage.js';
import { randomUUID } from 'node:crypto';
import { requestCancellation } from '../../ledger/imports/imports.js';
import { beginImport, discardAbandonedImports, discardImport, startImport } from '../../ledger/imports/imports.js';
import { stageAll, stageRows } from '../../importing/staging.js';
import { compareWithEarlier } from '../../importing/desk/check-import.js';
import { resume } from '../../ledger/pauses.js';
import { pigeonholeNumberOf } from '../../ledger/pigeonholes.js';
import {
  counts,
  finish,
  people,
  posts,
  type Profile,
  progress,
  registered,
  report,
  rowsOf,
  stage,
  turn,
  waitsAreOver,
} from '../imports/importing.js';

const stages = useStages();

/** Returns a gate whose process dies at each request, before the request is sent or after it arrived. */
function deadlyGate(gate: ServiceGate, arrives: boolean): ServiceGate {
  const request: ServiceGate['request'] = async (...args) => {
    if (arrives) await gate.request(...args);
    throw new ProcessDied();
  };
  return Object.assign(Object.create(gate) as ServiceGate, { request });
}

describe.each(kinds)('an import on %s', (kind) => {
  it('creates every registrant once, with one request per chunk', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const id = await stage(scene, rowsOf(...people(1200)));
    expect(await finish(scene, id)).toMatchObject({ state: 'finished' });
    expect(await registered(set)).toEqual(people(1200));
    expect(await counts(scene, id)).toEqual({ created: 1200 });
    expect(await posts(set)).toBe(2);
    expect(await progress(scene, id)).toMatchObject({ state: 'done', rows: 1200, requests: 2 });
    const rows = await report(scene, id);
    expect(rows.map(({ row }) => row)).toEqual(people(1200).map((_, index) => index + 2));
    expect(rows[0]).toMatchObject({ profile: people(1)[0], outcome: 'created', requestId: expect.any(String) });
    expect(scene.logText()).toContain(rows[0]!.requestId); // the vendor finds a request by this id
  });

  it('sends no row twice, and of a corrected file only failed and new rows', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const bad = { attendeeCode: 'BAD', Name: 'n'.repeat(300) };
    const first = await stage(scene, rowsOf(...people(20), bad));
    await finish(scene, first);
    expect(await counts(scene, first)).toEqual({ created: 20, rejected: 1 });
    await posts(set);

    const again = await stage(scene, rowsOf(...people(20), bad));
    await finish(scene, again);
    expect(await posts(set)).toBe(0);
    expect(await counts(scene, again)).toEqual({ existing: 20, rejected: 1 });
    expect((await report(scene, again)).at(-1)).toMatchObject({ field: 'Name', outcome: 'rejected' });

    const good = { attendeeCode: 'BAD', Name: 'short' };
    const corrected = await stage(scene, rowsOf(...people(21), good));
    await finish(scene, corrected);
    expect(await posts(set)).toBe(1);
    expect(await counts(scene, corrected)).toEqual({ existing: 20, created: 2 });
    expect(await counts(scene, first)).toEqual({ created: 20, rejected: 1 });
    expect(await registered(set)).toEqual([good, ...people(21)]);
  });

  it.each([
    { moment: 'before its requests', arrives: false },
    { moment: 'behind its requests', arrives: true },
  ])('immediately continues the work of a process that died $moment', async ({ arrives }) => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const id = await stage(scene, rowsOf(...people(1200)));
    await expect(turn({ deps: { ...scene.deps, gate: deadlyGate(scene.deps.gate, arrives) } }, id)).rejects.toThrow(
      ProcessDied,
    );
    const [left] = await set.db.query(`select count(*) as chunks from import_chunks where state = 'sending'`);
    expect(left).toEqual({ chunks: 2 });
    expect(await registered(set)).toHaveLength(arrives ? 1200 : 0);
    // One cycle suffices: nothing waits for a time.
    expect(await turn(scene, id)).toMatchObject({ state: 'finished' });
    expect(await registered(set)).toEqual(people(1200));
    expect(await counts(scene, id)).toEqual(arrives ? { confirmed: 1200 } : { created: 1200 });
  });

  it('predicts the outcome of each row without changing anything', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const bad = { attendeeCode: 'BAD', Name: 'n'.repeat(300) };
    await finish(scene, await stage(scene, rowsOf(...people(2), bad)));
    await stage(scene, rowsOf({ attendeeCode: 'HELD', Name: 'Held' }));
    const pigeonholeNumber = await pigeonholeNumberOf(scene.ledger, 'acme', 101);
    const [first, second] = people(2) as [Profile, Profile];
    const rows = [
      first,
      { ...second, Name: 'Other' },
      bad,
      { ...bad, Name: 'short' },
      { attendeeCode: 'HELD' },
      { attendeeCode: 'NEW' },
    ];
    const asked = rows.map((profile, index) => ({ row: index + 2, profile }));
    const expected = ['existing', 'conflict', 'rejected', 'send', 'elsewhere', 'send'];
    expect(await compareWithEarlier(scene.ledger, pigeonholeNumber, asked)).toEqual(expected);
    expect(await compareWithEarlier(scene.ledger, pigeonholeNumber, asked)).toEqual(expected);
  });

  it('creates one set of registrants if it is started twice at the same time, and both callers get the same answer', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const changed = people(30).map((person, index) => (index < 5 ? { ...person, Name: 'Changed' } : person));
    const [one, two] = await Promise.all([stage(scene, rowsOf(...people(30))), stage(scene, rowsOf(...changed))]);
    await Promise.all([finish(scene, one), finish(scene, two)]);
    const [first, second] = [await counts(scene, one), await counts(scene, two)];
    expect((first.created ?? 0) + (second.created ?? 0)).toBe(30);
    expect((first.existing ?? 0) + (second.existing ?? 0)).toBe(25);
    expect((first.conflict ?? 0) + (second.conflict ?? 0)).toBe(5);
    expect((await registered(set)).map(({ attendeeCode }) => attendeeCode)).toEqual(
      people(30).map(({ attendeeCode }) => attendeeCode),
    );
  });

  it('sends the unsent rows of a cancelled import and keeps the registrants that it created', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    await set.fault({ kind: 'error', code: 8000, method: 'POST', skip: 1, next: 1, retryAfterSeconds: 60 });
    const cancelled = await stage(scene, rowsOf(...people(1400)));
    const waiting = await stage(scene, rowsOf(...people(1400)));
    expect(await turn(scene, cancelled)).toMatchObject({ state: 'waiting', reason: 'quota' });
    await set.db.query('update workspaces set wait_until = now()');
    await set.db.query('update quotas set ask_at = now()');
    expect(await turn(scene, waiting)).toMatchObject({ state: 'waiting', reason: 'otherImport' });

    expect(await requestCancellation(scene.ledger, cancelled, 'Ann')).toBe(true);
    expect(await turn(scene, cancelled)).toMatchObject({ state: 'finished' });
    const given = await counts(scene, cancelled);
    expect((given.created ?? 0) + (given.cancelled ?? 0)).toBe(1400);
    expect(given.created).toBeGreaterThan(0);
    await finish(scene, waiting);
    expect(await counts(scene, waiting)).toEqual({ existing: given.created, created: given.cancelled });
    expect(await counts(scene, cancelled)).toEqual(given);
    expect(await registered(set)).toHaveLength(1400);
    expect((await report(scene, cancelled)).map(({ row }) => row)).toEqual(people(1400).map((_, index) => index + 2));
  });

  it('ends after its cancellation even if its workspace is no longer configured', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const id = await stage(scene, rowsOf(...people(3)));
    const deps = { ...scene.deps, config: { ...scene.deps.config, workspaces: {}, syncs: {} } };
    expect(await turn({ deps }, id)).toMatchObject({ state: 'paused', reason: 'its workspace is not configured' });
    await requestCancellation(scene.ledger, id, 'Ann');
    expect(await turn({ deps }, id)).toMatchObject({ state: 'finished' });
    expect(await counts(scene, id)).toEqual({ cancelled: 3 });
  });

  it('does not deadlock with an import that takes over the same codes in the opposite order', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const given = await stage(scene, rowsOf(...people(900)), { canary: 1 });
    await finish(scene, given);
    const backwards = people(900).toReversed();
    const [one, two] = await Promise.all([stage(scene, rowsOf(...people(900))), stage(scene, rowsOf(...backwards))]);
    await Promise.all([finish(scene, one), finish(scene, two)]);
    const [first, second] = [await counts(scene, one), await counts(scene, two)];
    expect((first.created ?? 0) + (second.created ?? 0)).toBe(899);
    expect((first.existing ?? 0) + (second.existing ?? 0)).toBe(901);
    expect(await registered(set)).toEqual(people(900));
    expect(await counts(scene, given)).toEqual({ created: 1, cancelled: 899 });
  });

  it('takes over rows from an import that was given up during staging', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const pigeonholeNumber = await pigeonholeNumberOf(scene.ledger, 'acme', 101);
    const about = { id: randomUUID(), pigeonholeNumber, file: 'x.csv', mapping: {}, requestedBy: null, canary: null };
    const [gone, stalled] = [
      await beginImport(scene.ledger, about),
      await beginImport(scene.ledger, { ...about, id: randomUUID() }),
    ];
    await stageRows(scene.ledger, gone, rowsOf(...people(3)));
    await stageRows(scene.ledger, stalled, rowsOf(...people(2, 'Q')));
    const id = await stage(scene, rowsOf(...people(3), ...people(2, 'Q')));
    expect(await turn(scene, id)).toMatchObject({ state: 'waiting', reason: 'otherImport' });
    await discardImport(scene.ledger, gone);
    await set.db.query(`update imports set touched_at = now() - interval '1 hour' where number = $1`, [stalled]);
    await finish(scene, id);
    expect(await counts(scene, id)).toEqual({ created: 5 });
    await expect(stageRows(scene.ledger, gone, [])).rejects.toMatchObject({ kind: 'stale' });
    expect(await discardAbandonedImports(scene.ledger)).toBe(1);
    expect(await counts(scene, id)).toEqual({ created: 5 });
  });

  it('is not started if the store holds fewer rows than were received', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const pigeonholeNumber = await pigeonholeNumberOf(scene.ledger, 'acme', 101);
    const about = { id: randomUUID(), pigeonholeNumber, file: 'x.csv', mapping: {}, requestedBy: null, canary: null };
    const number = await beginImport(scene.ledger, about);
    expect(await stageAll(scene.ledger, number, [rowsOf(...people(2))])).toBe(2);
    const start = (rows: number): Promise<void> => startImport(scene.ledger, number, rows);
    await expect(start(3)).rejects.toMatchObject({ kind: 'stale' });
    expect(await progress(scene, about.id)).toMatchObject({ state: 'staging' });
    await start(2);
    await start(2);
    expect(await progress(scene, about.id)).toMatchObject({ state: 'running' });
  });

  it('waits for the quota without using an attempt, and reports the end of the wait', async () => {
    const set = await stages.open(kind, {
      knobs: { quota: { limit: 1, windowSeconds: 600, headers: true, retryAfter: false } },
    });
    const scene = await set.scene({ quota: '{ reserve: 0% }' });
    const id = await stage(scene, rowsOf(...people(2000)));
    expect(await turn(scene, id)).toMatchObject({ state: 'waiting', reason: 'quota' });
    const waiting = await progress(scene, id);
    expect(waiting).toMatchObject({ state: 'waiting', waitReason: 'quota', requests: 1, failures: 0 });
    expect(waiting.waitUntil!.getTime() - Date.now()).toBeGreaterThan(500_000);
    expect(waiting.counts.created).toBe(1000);
  });

  it('uses the requests that are reserved for imports while reading waits for the quota', async () => {
    const set = await stages.open(kind, {
      knobs: { quota: { limit: 40, windowSeconds: 3600, headers: true, retryAfter: false } },
    });
    const sync = 'every: { live: 1h }'; // longer than the test, so that reading does not use up the service's quota
    const scene = await set.scene({ sync });
    await scene.settle();
    await set.db.query('update quotas set remaining = 4, used = 36');
    const waiting = await set.scene({ sync }); // reads the count
    await set.pollsAreDue();
    await waiting.read({ workspace: 'acme', pigeonholeId: 101 });
    expect(await waiting.read({ workspace: 'acme', pigeonholeId: 101 })).toMatchObject({
      state: 'waiting',
      reason: 'quota',
    });
    const states: string[] = [];
    const { gate } = waiting.deps;
    const request: ServiceGate['request'] = async (...args) => {
      states.push((await progress(waiting, id)).state);
      return await gate.request(...args);
    };
    const watched = { deps: { ...waiting.deps, gate: Object.assign(Object.create(gate) as ServiceGate, { request }) } };
    const id = await stage(waiting, rowsOf(...people(10)));
    expect(await turn(watched, id)).toMatchObject({ state: 'finished' });
    expect(await counts(waiting, id)).toEqual({ created: 10 });
    expect(states).toEqual(['running']);

    await set.db.query('update quotas set remaining = 0, used = 40');
    const late = await stage(waiting, rowsOf(...people(10, 'Q')));
    expect(await turn(waiting, late)).toMatchObject({ state: 'waiting', reason: 'quota', requests: 0 });
    expect(await progress(waiting, late)).toMatchObject({ state: 'waiting', waitReason: 'quota', requests: 0 });
    expect((await waiting.read({ workspace: 'acme', pigeonholeId: 101 })).state).toBe('waiting');
  });

  it('stops immediately if registrants are disabled, says what to enable, and continues when an operator resumes it', async () => {
    const set = await stages.open(kind, { registrants: false });
    const scene = await set.scene();
    const id = await stage(scene, rowsOf(...people(1200)));
    expect(await turn(scene, id)).toMatchObject({ state: 'paused' });
    const paused = await progress(scene, id);
    expect(paused).toMatchObject({ state: 'paused', pauses: [{ cause: 'registrantsOff', scope: 'import' }] });
    expect(paused.pauses[0]!.detail).toMatch(/enable registrant profiles in the dashboard/);
    expect(await posts(set)).toBeLessThanOrEqual(3); // the number of concurrent requests
    expect(await turn(scene, id)).toMatchObject({ state: 'paused', reason: 'registrantsOff' });
    expect(await posts(set)).toBe(0);
    await set.patch('pigeonholes', 101, { registrants: true });
    await resume(scene.ledger, 'import', id, 'cause');
    await finish(scene, id);
    expect(await counts(scene, id)).toEqual({ created: 1200 });
  });

  it('pauses the workspace if the key is refused, and continues when the service accepts it again', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    await set.control('POST', 'keys', { accepted: ['another'] });
    const id = await stage(scene, rowsOf(...people(10)));
    expect(await turn(scene, id)).toMatchObject({ state: 'waiting', reason: 'credential' });
    expect(await progress(scene, id)).toMatchObject({ state: 'paused', pauses: [{ cause: 'credential' }] });
    await set.control('POST', 'keys', { accepted: ['sandbox-key'] });
    await set.db.query('update workspaces set wait_until = now()');
    await finish(scene, id);
    expect(await counts(scene, id)).toEqual({ created: 10 });
    expect((await progress(scene, id)).pauses).toEqual([]);
  });

  it('keeps the pause after a refused key until the service has answered', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    await set.control('POST', 'keys', { accepted: ['another'] });
    const id = await stage(scene, rowsOf(...people(10)));
    expect(await turn(scene, id)).toMatchObject({ state: 'waiting', reason: 'credential' });
    const since = (await progress(scene, id)).pauses[0]!.since;
    await set.control('POST', 'keys', { accepted: ['sandbox-key'] });
    await set.fault({ kind: 'error', code: 5000, method: 'POST', next: 1 });
    await set.db.query('update workspaces set wait_until = now()');
    await turn(scene, id);
    expect((await progress(scene, id)).pauses).toMatchObject([{ cause: 'credential', since }]);
    await waitsAreOver(scene, 1);
    await set.db.query('update workspaces set wait_until = now()');
    await finish(scene, id);
    expect((await progress(scene, id)).pauses).toEqual([]);
    expect(await counts(scene, id)).toEqual({ created: 10 });
  });

  it('distinguishes an existing code from one whose attendee has different data', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const [same, other, absent] = people(3) as [Profile, Profile, Profile];
    for (const person of [same, { ...other, Name: 'Other Name' }, { ...absent, Name: 'Never Came' }]) {
      await fetch(`${set.sandbox.baseUrl}/v2/pigeonholes/101/registrants/bulk`, {
        method: 'POST',
        headers: { 'X-API-KEY': 'sandbox-key', 'Content-Type': 'application/json' },
        body: JSON.stringify({ data: [person] }),
      });
    }
    for (const { attendeeCode } of [same, other])
      await set.control('POST', 'sign-in', { pigeonhole: 101, attendeeCode });
    await scene.settle();
    const id = await stage(scene, rowsOf(same, other, absent));
    await finish(scene, id);
    expect((await report(scene, id)).map(({ outcome, field }) => [outcome, field])).toEqual([
      ['existing', 'attendeeCode'],
      ['conflict', 'Name'],
      ['existing', 'attendeeCode'],
    ]);
  });

  it('sends only the canary row, and leaves the rest to the next import', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    await stage(scene, rowsOf({ attendeeCode: 'HELD' })); // held by an import that makes no progress
    const canary = await stage(scene, rowsOf(...people(4), { attendeeCode: 'HELD' }), { canary: 1 });
    await finish(scene, canary);
    expect(await counts(scene, canary)).toEqual({ created: 1, cancelled: 4 });
    expect(await registered(set)).toEqual(people(1));
    const rest = await stage(scene, rowsOf(...people(5)));
    await finish(scene, rest);
    expect(await counts(scene, rest)).toEqual({ existing: 1, created: 4 });
    expect(await counts(scene, canary)).toEqual({ created: 1, cancelled: 4 });
  });

  it('gives up only on a row that never gets an answer', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    await set.fault({ kind: 'error', code: 5000, method: 'POST' });
    const id = await stage(scene, rowsOf(...people(1)));
    await finish(scene, id);
    expect(await counts(scene, id)).toEqual({ unknown: 1 });
    expect((await report(scene, id))[0]!.message).toMatch(/did not answer 6 requests with this row only/);
    await set.control('DELETE', 'faults');
    const again = await stage(scene, rowsOf(...people(1)));
    await finish(scene, again);
    expect(await counts(scene, again)).toEqual({ created: 1 });
  });

  it('keeps messages of the service about a row out of the log', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const id = await stage(scene, rowsOf({ attendeeCode: 'SECRET-1', Name: 'Zacharias'.repeat(40) }));
    await finish(scene, id);
    expect((await report(scene, id))[0]).toMatchObject({
      outcome: 'rejected',
      field: 'Name',
      requestId: expect.any(String),
    });
    expect(scene.logText()).toMatch(/registrants refused/);
    expect(scene.logText()).toContain((await report(scene, id))[0]!.requestId);
    expect(scene.logText()).not.toMatch(/SECRET-1|Zacharias|at most 255/);
  });
});
