import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.js';
import { useConfiguration } from '../../ledger/configurations.js';
import { kinds, useBothDatabases } from '../../ledger/drivers/both-databases.test-kit.js';
import { type Ledger, openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { lockPlaceWithLanes } from '../../ledger/lock-order.js';
import { pause, resume } from '../../ledger/pauses.js';
import {
  addSelections,
  archiveSelections,
  pigeonholeNumberOf,
  registerSyncs,
  saveStates,
} from '../../ledger/pigeonholes.js';
import { assignReaders, beat, readerNumbers, takeReader } from '../../ledger/readers.js';
import { ensureStreams } from '../../ledger/streams.js';
import { replanStreams } from '../../ledger/streams-due.js';
import { probeGone } from '../../ledger/streams-gone.js';
import { endQuotaWait, retryAfterOutage, waitWorkspace } from '../../ledger/workspaces.js';
import { act } from '../../operations/act.js';
import type { Action } from '../../operations/action.js';
import type { WorkflowStarter } from '../../operations/orchestration.js';
import { decideHold } from '../../reading/holds.js';
import { noOrchestration } from '../../cycles/collaborators.js';
import { forgetEverything } from '../kit/forget-everything.js';

/**
 * A stay hears of the world only by its beat, which compares `pigeonholes.asked` (decision 0088). An operation that
 * changes what a reader remembers and does not raise the number has no effect until the next stay, up to two minutes
 * later. The first test finds such operations in the source, the others carry them out.
 */

const root = join(__dirname, '../..');
const rooms = ['ledger', 'requests', 'people', 'reading', 'delivering', 'importing', 'operations'];

/** Statements that write what a reader remembers: which streams it reads, when, and whether it may. */
const remembered =
  /\b(?:insert into|delete from|update) (?:only )?(?:streams|pauses|selections|syncs|visibility_reviews|workspaces|pigeonholes)\b(?! for )/;
/** The ways to raise the number. */
const raises =
  /\b(?:raiseAsked|raiseAskedOfWorkspace|tellReaders|setReaders|updateWorkspace|pollPlaces|lockPlaceWithLanes)\(|\basked = (?:p\.)?asked \+ 1\b/;

/**
 * Functions that write such a table without raising the number. `reader`: only reading calls them, under the lease of a
 * stream or within its commit, and loads the streams again. `beat`: the beat itself shows it. `none`: no reader remembers
 * what they write.
 */
const others: Readonly<Record<string, 'reader' | 'beat' | 'none'>> = {
  ensureStreams: 'reader',
  acquireStreams: 'reader',
  abandonWalks: 'reader',
  doubtStream: 'reader',
  endDoubt: 'reader',
  commit: 'reader',
  writeProgress: 'reader',
  storePageEffects: 'reader',
  storeQuietStart: 'reader',
  markDiffering: 'reader',
  storeWalkEnd: 'reader',
  storeSweepEnd: 'reader',
  storeKeySequence: 'reader',
  markGone: 'reader',
  markPigeonhole: 'reader',
  existsAgain: 'reader',
  markSessionsGone: 'reader', // also for a hold, whose decision raises the number
  markPlaceGone: 'reader',
  sweepStreams: 'reader',
  sweepAgain: 'reader',
  sweepSessions: 'reader',
  sweepOtherLists: 'reader',
  sweepOtherStreams: 'reader',
  confirmMissing: 'reader',
  reviewVisibility: 'reader',
  reviewLater: 'reader',
  continueReview: 'reader',
  registerSyncs: 'beat', // another configuration ends the stay
  requestPermission: 'beat',
  waitWorkspace: 'beat',
  workspaceAnswers: 'beat',
  forgetRefusedKey: 'beat',
  markUnanswered: 'none',
  markAnswering: 'none',
  markDiscovered: 'none',
  learnRefusals: 'none', // what an import learned about the service
  endPausesOf: 'none', // of an import
  pauseReasons: 'none', // a text
  liftChangedCredential: 'none', // only an operator's pause stops a reader
  pigeonholeNumberOf: 'none',
  ensurePlaces: 'none',
  claimHidden: 'none',
  storeNextSequence: 'none',
  pauseRestored: 'none', // before any reader starts
};

interface Writer {
  readonly name: string;
  readonly file: string;
  readonly raises: boolean;
}

/** Returns the functions of a file that write what a reader remembers, or raise the number. */
function writersIn(file: string): Writer[] {
  const declarations = readFileSync(join(root, file), 'utf8').split(
    /^(?=(?:export )?(?:async )?(?:function|class|const|interface|type)\b)/m,
  );
  return declarations.flatMap((text) => {
    const name = /^(?:export )?(?:async )?(?:function|class|const) (\w+)/.exec(text)?.[1];
    const sql = text.replaceAll(/\s+/g, ' ');
    return name !== undefined && remembered.test(sql) ? [{ name, file, raises: raises.test(sql) }] : [];
  });
}

const writers = rooms.flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.(?:test|test-kit)\.ts$/.test(name))
    .flatMap((name) => writersIn(join(room, name))),
);

describe('the operations that change what a reader remembers', () => {
  it('raise its number, or are listed here with the reason why they need not', () => {
    const silent = writers.filter((writer) => !writer.raises).map(({ name }) => name);
    expect(silent.toSorted()).toEqual(Object.keys(others).toSorted());
  });

  it('are called by reading only, if they do not raise its number', () => {
    const names = Object.keys(others).filter((name) => others[name] === 'reader');
    const call = new RegExp(`import [^;]*\\b(?:${names.join('|')})\\b[^;]*from '[./]*/ledger/`);
    const callers = rooms
      .filter((room) => room !== 'ledger' && room !== 'reading')
      .flatMap((room) =>
        readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).map((name) => join(room, name)),
      )
      .filter((file) => file.endsWith('.ts') && call.test(readFileSync(join(root, file), 'utf8')));
    expect(callers).toEqual([]);
  });
});

const databases = useBothDatabases();
const config = {
  workspaces: { acme: { apiKey: { reveal: () => 'key' } } },
  syncs: { events: { workspace: 'acme', sinks: ['crm'] } },
  sinks: { crm: { type: 'webhook' } },
} as unknown as Config;
const nothing = (): void => undefined;
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const starter: WorkflowStarter = {
  ...noOrchestration,
  start: async () => undefined,
  wakeWorkflow: async () => true,
};
const byPerson = { pausedBy: 'person', cause: 'asked', detail: 'no reason given', fingerprint: null } as const;
const place = { scope: 'pigeonhole', name: 'acme/1' } as const;
const waitsForQuota = { reason: 'quota', waitMs: 60_000, count: 1 } as const;
const plan = { live: 1, idle: 1, untilMs: 0 };

/** Effect of each action of an operator on the reader of a pigeonhole. */
const actions: Readonly<
  Record<`${Action['do']} ${Exclude<Action['kind'], 'sink'>}`, 'hears' | 'refused' | 'own lists'>
> = {
  'pause workspace': 'hears',
  'pause pigeonhole': 'hears',
  'resume workspace': 'hears',
  'resume pigeonhole': 'hears',
  'try-now workspace': 'hears',
  'try-now pigeonhole': 'refused',
  'poll-now workspace': 'own lists', // those of the workspace, which discovery reads
  'poll-now pigeonhole': 'hears',
  'sweep workspace': 'hears',
  'sweep pigeonhole': 'hears',
  'approve workspace': 'refused',
  'approve pigeonhole': 'refused',
};

describe.each(kinds)('the reader of a pigeonhole, on %s', (kind) => {
  let ledger: Ledger;
  let configuration: number;
  let pigeonholeNumber: number;
  let asked: () => Promise<number>;

  beforeEach(async () => {
    await forgetEverything(databases.of(kind));
    ledger = await openLedger(databases.of(kind), testKey);
    configuration = await useConfiguration(ledger, {}, true);
    await registerSyncs(
      ledger,
      ['events', 'more'].map((name) => ({ name, workspace: 'acme', choice: '{}' })),
    );
    for (const sync of ['events', 'more']) await addSelections(ledger, { sync, workspace: 'acme', configuration }, [1]);
    await assignReaders(ledger);
    pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', 1);
    await ensureStreams(ledger, pigeonholeNumber, [{ list: 'attendees', sessionId: 0 }]);
    const [number] = await readerNumbers(ledger);
    const lease = (await takeReader(ledger, number!, 'test'))!;
    asked = async () => (await beat(ledger, lease))!.members[0]!.asked;
  });

  async function hears(operation: () => Promise<unknown>): Promise<boolean> {
    const before = await asked();
    await operation();
    return (await asked()) > before;
  }

  const carryOut = (action: Action): Promise<unknown> =>
    act({ deps: { config, ledger, sinks: new Map(), log }, starter }, action);

  it.each(Object.entries(actions))('after "%s": %s', async (action, expected) => {
    const [verb, target] = action.split(' ') as [Action['do'], Action['kind']];
    const name = target === 'workspace' ? 'acme' : 'acme/1';
    if (verb === 'resume') await carryOut({ do: 'pause', kind: target, name });
    let result: unknown;
    const didHear = await hears(async () => (result = await carryOut({ do: verb, kind: target, name })));
    expect(didHear).toBe(expected === 'hears');
    if (expected === 'refused') expect(result).toHaveProperty('refused');
    else expect(result).toBe('done');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a rehearsal', () => carryOut({ do: 'poll-now', kind: 'pigeonhole', name: 'acme/1', forSeconds: 60 })],
    ['another status', () => saveStates(ledger, 'acme', [{ id: 1, status: 'live', days: null }])],
    ['other event days', () => saveStates(ledger, 'acme', [{ id: 1, status: null, days: '2026-11-21' }])],
    ['the end of its selection by one of two syncs', () => archiveSelections(ledger, 'events', [pigeonholeNumber])],
    [
      'what an erasure or retention removes',
      () => ledger.db.transaction((tx) => lockPlaceWithLanes(tx, pigeonholeNumber)),
    ],
    ['the end of an outage', () => retryAfterOutage(ledger, 'acme')],
  ])('hears of %s', async (_, operation) => {
    expect(await hears(operation)).toBe(true);
  });

  it('hears of a pause and of its end', async () => {
    expect(await hears(() => pause(ledger, { ...place, ...byPerson }))).toBe(true);
    expect(await hears(() => resume(ledger, place.scope, place.name, 'person'))).toBe(true);
    expect(await hears(() => resume(ledger, place.scope, place.name, 'person'))).toBe(false);
  });

  it('hears of its selection by another sync', async () => {
    await archiveSelections(ledger, 'events', [pigeonholeNumber]);
    expect(await hears(() => addSelections(ledger, { sync: 'events', workspace: 'acme', configuration }, [1]))).toBe(
      true,
    );
  });

  it('hears that the quota has grown: of the end of a wait, and of earlier reads', async () => {
    await waitWorkspace(ledger, 'acme', waitsForQuota);
    expect(await hears(() => endQuotaWait(ledger, 'acme'))).toBe(true);
    expect(await hears(() => endQuotaWait(ledger, 'acme'))).toBe(false);
    await ledger.db.query(
      `update streams set polled_at = now() - interval '1 minute', due_at = now() + interval '1 hour', wanted_ms = 1000`,
    );
    expect(await hears(() => replanStreams(ledger, 'acme', plan))).toBe(true);
  });

  it('hears of the decision about deletions that were held', async () => {
    const [hold] = await ledger.db.query<{ id: number }>(
      `insert into holds (pigeonhole_number, list, items, of_items) values ($1, 'attendees', 5, 6) returning id`,
      [pigeonholeNumber],
    );
    expect(await hears(() => decideHold(ledger, hold!.id, 'rejected'))).toBe(true);
  });

  it('hears that a pigeonhole which counted as gone is shown again', async () => {
    await ledger.db.query('update pigeonholes set gone_at = now()');
    await ledger.db.query(`update streams set gone_at = now(), due_at = now() + interval '1 hour'`);
    const probe = { restMs: 24 * 3_600_000, everyMs: 0 };
    expect(await hears(() => probeGone(ledger, 'acme', [1], probe))).toBe(true);
  });
});
