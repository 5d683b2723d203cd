import { whileHeld } from '../../base/lease.js';
import type { Collaborators, OpenSink } from '../../cycles/collaborators.js';
import type { PigeonholeName } from '../../cycles/cycle-results.js';
import type { Queryable } from '../../ledger/drivers/database.js';
import { handOverLane, type LaneLease, lockLane, releaseLane, rememberOnLane } from '../../ledger/lanes-leased.js';
import { objectsOfSink } from '../../ledger/sink-objects.js';
import type { Fields, HeldResult, Lane } from '../../sinks/sink.js';
import { LaneHold } from '../lane-hold.js';
import {
  type AuditedLane,
  type ComparableEntry,
  earlierOperations,
  expectEntries,
  nextItems,
  nextRevisions,
  type Slice,
  theseEntries,
} from './expected-entries.js';
import {
  type CompareHeld,
  type Difference,
  judgeHeld,
  isDifference,
  type ReadResult,
  undelivered,
  type Verdict,
} from './judge-held.js';
import { isOlderMapping } from './older-mapping.js';
import {
  type DuePass,
  endPass,
  failPass,
  openPass,
  type PassPosition,
  repairedFindings,
  settledMeanwhile,
  storeSlice,
  storeVerdicts,
} from './parity-store.js';
import { sendRepairs } from './send-repairs.js';

/** A lane that an audit reads. */
export interface LaneToAudit {
  readonly open: OpenSink;
  readonly place: PigeonholeName;
  readonly lists: readonly string[];
  readonly due: DuePass;
}

/** Maximum number of entries in one slice; a sink with smaller batches gets fewer. */
const maxEntries = 500;
/** After this time, a slice ends, and the lane can deliver. */
const maxSliceMs = 20_000;
/** Waits after a failure, in ms: the first, and the longest. */
const firstRetryMs = 5000;
const longestRetryMs = 600_000;
/** After so many failures at the same entry, the entry counts as unreadable, so that it does not hold up the others. */
const maxFailures = 8;
/** The cause of an entry that could not be read after `maxFailures` attempts. */
export const readFailed = 'read-failed';

/** Result of a slice. `busy`: another process holds the lane. `waits`: nothing can be read or changed now. */
export type SliceResult = 'busy' | 'more' | 'waits';

/**
 * Audits the next slice of a lane, or continues its repair. It holds the lane's lease, so nothing is delivered meanwhile:
 * what the sink received last is what the destination should have. Safe to run twice: the position and the findings of a
 * slice are committed together.
 * @param signal aborted when deliveries have to continue, or the process ends
 */
export async function auditLane(deps: Collaborators, lane: LaneToAudit, signal: AbortSignal): Promise<SliceResult> {
  const { open, due } = lane;
  const name = { sinkId: open.id, pigeonholeNumber: due.pigeonholeNumber };
  const hold = await LaneHold.take(deps.ledger, { ...name, owner: deps.owner }, deps.clocks);
  if (hold === undefined) return 'busy';
  const { lease } = hold;
  try {
    if (lease.takenOver) {
      await handOverLane(deps.ledger, lease, 0); // a delivery cycle settles first what the previous holder left
      return 'busy';
    }
    const ends = AbortSignal.any([signal, hold.signal, AbortSignal.timeout(maxSliceMs)]);
    const audit = new LaneAudit(deps, lane, lease, { ends, yields: signal });
    const result = await whileHeld(hold.confirm, async () => await audit.continue());
    await releaseLane(deps.ledger, lease, open.sink.traits.order);
    return result;
  } finally {
    hold.end();
  }
}

class LaneAudit {
  readonly #audited: AuditedLane;
  readonly #lane: Lane;
  readonly #isLog: boolean;

  constructor(
    private readonly deps: Collaborators,
    private readonly audit: LaneToAudit,
    private readonly lease: LaneLease,
    private readonly signals: { readonly ends: AbortSignal; readonly yields: AbortSignal },
  ) {
    const { open, place } = audit;
    const { sink, name, accepts } = open;
    this.#isLog = sink.traits.revisions === 'every';
    this.#audited = {
      sinkId: lease.sinkId,
      pigeonholeNumber: lease.pigeonholeNumber,
      place,
      traits: sink.traits,
      accepts,
      mapping: deps.config.sinks[name]!,
      sink,
    };
    let memory: Fields = lease.memory;
    this.#lane = {
      ...place,
      ledgerId: deps.ledger.id,
      get memory() {
        return memory;
      },
      async remember(more) {
        const all = { ...memory, ...more };
        await rememberOnLane(deps.ledger, lease, all);
        memory = all;
      },
      objects: () => objectsOfSink(deps.ledger, open.id),
    };
  }

  /** Continues a repair if there is one, otherwise the pass. */
  async continue(): Promise<SliceResult> {
    const { ledger } = this.deps;
    const repairing = {
      deps: this.deps,
      audited: this.#audited,
      lane: this.#lane,
      lease: this.lease,
      size: this.#size,
      compare: async (entries: Slice['entries']) => await this.#compare({ entries }, this.audit.due.failures),
    };
    const repaired = await sendRepairs(repairing, this.signals.ends);
    if (repaired.kind === 'failed') {
      return this.signals.yields.aborted ? 'more' : await this.#fail(repaired.detail, repaired.afterMs);
    }
    if (repaired.kind === 'more') return 'more';
    const verified = await repairedFindings(ledger.db, this.lease, this.#size);
    if (verified.length > 0) return await this.#verify(verified);
    const pass = await this.#locked(async (tx) => await openPass(tx, this.lease));
    return pass.stage === 'items' ? await this.#compareNext(pass) : await this.#compareAgain(pass);
  }

  get #size(): number {
    return Math.min(maxEntries, this.#audited.traits.batchSize);
  }

  /** Runs a transaction that writes only while this process holds the lane. */
  async #locked<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return await this.deps.ledger.db.transaction(
      async (tx) => {
        await lockLane(tx, this.lease);
        return await work(tx);
      },
      { beginsByLocking: true },
    );
  }

  async #compareNext(pass: DuePass): Promise<SliceResult> {
    const { lists } = this.audit;
    const { needsContext } = this.#audited.traits;
    const scope = { ...this.#name, lists, limit: this.#size, needsContext };
    const next = this.#isLog ? nextRevisions : nextItems;
    const slice = await next(this.deps.ledger.db, scope, pass);
    const { done, verdicts, problem } = await this.#compare(slice, pass.failures);
    const isAtEnd = done === slice.entries.length && slice.isLast;
    const position: PassPosition = isAtEnd
      ? { stage: 'again', list: null, key: null, sequence: 0 }
      : (slice.positions[done - 1] ?? pass);
    return await this.#store(pass, { position, verdicts, isDone: done > 0 || isAtEnd }, problem);
  }

  /** Compares entries again whose deliveries were settled during the pass, each once, and then ends the pass. */
  async #compareAgain(pass: DuePass): Promise<SliceResult> {
    const { ledger } = this.deps;
    const waiting = await settledMeanwhile(ledger.db, this.lease, pass.number, pass.sequence, this.#size);
    if (waiting.length === 0) {
      await this.#locked(async (tx) => await endPass(tx, this.lease, pass.number));
      this.deps.log.info({ sink: this.audit.open.name, ...this.audit.place, pass: pass.number }, 'audit finished');
      return 'more';
    }
    const entries = await theseEntries(ledger.db, this.#audited, waiting);
    const { done, verdicts, problem } = await this.#compare({ entries }, pass.failures);
    const isAll = done === entries.length;
    const sequence = isAll ? waiting.at(-1)!.number : pass.sequence;
    const position: PassPosition = { stage: 'again', list: null, key: null, sequence };
    return await this.#store(pass, { position, verdicts, isDone: isAll }, problem);
  }

  /** Compares what a repair has sent, and removes the findings that are no longer true. */
  async #verify(sent: readonly Parameters<typeof theseEntries>[2][number][]): Promise<SliceResult> {
    const entries = await theseEntries(this.deps.ledger.db, this.#audited, sent);
    const { verdicts, problem } = await this.#compare({ entries }, 0);
    if (problem !== null && verdicts.length === 0) return await this.#fail(problem.detail, problem.afterMs);
    await this.#locked(async (tx) => {
      const { number } = await openPass(tx, this.lease);
      await storeVerdicts(tx, this.lease, number, verdicts);
    });
    return 'more';
  }

  async #store(
    pass: DuePass,
    part: { readonly position: PassPosition; readonly verdicts: readonly Verdict[]; readonly isDone: boolean },
    problem: Problem | null,
  ): Promise<SliceResult> {
    if (part.isDone) await this.#locked(async (tx) => await storeSlice(tx, this.lease, { pass: pass.number, ...part }));
    if (problem === null || this.signals.yields.aborted) return 'more';
    return await this.#fail(problem.detail, problem.afterMs);
  }

  async #fail(detail: string, afterMs: number | undefined): Promise<SliceResult> {
    const growing = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(this.audit.due.failures, 10));
    const retryInMs = Math.max(afterMs ?? 0, growing);
    await this.#locked(async (tx) => await failPass(tx, this.lease, { detail, retryInMs }));
    return 'waits';
  }

  get #name(): { readonly sinkId: number; readonly pigeonholeNumber: number } {
    const { sinkId, pigeonholeNumber } = this.lease;
    return { sinkId, pigeonholeNumber };
  }

  /**
   * Reads and compares entries up to the first that could not be read. Returns the number of entries that are done, and
   * their verdicts.
   */
  async #compare(
    { entries }: Pick<Slice, 'entries'>,
    failures: number,
  ): Promise<{ readonly done: number; readonly verdicts: readonly Verdict[]; readonly problem: Problem | null }> {
    const { db } = this.deps.ledger;
    const ready = entries.filter(({ isOpen }) => !isOpen);
    const expected = await expectEntries(db, this.#audited, ready);
    const wanted = expected.filter((entry) => entry !== null);
    const results = wanted.length === 0 ? [] : await this.#readBack(wanted);
    const verdicts: Verdict[] = [];
    for (const [index, entry] of entries.entries()) {
      if (entry.isOpen) {
        if (entry.received !== null) verdicts.push(undelivered(entry));
        continue;
      }
      if (expected.shift() === null) {
        if (entry.isDead) verdicts.push(undelivered(entry));
        continue;
      }
      const own = wanted.shift()!;
      const result = results.shift()!;
      if (result.kind === 'retry' || result.kind === 'pause') {
        const problem = { detail: result.detail, afterMs: result.kind === 'retry' ? result.afterMs : longestRetryMs };
        if (verdicts.length > 0 || failures < maxFailures || this.signals.yields.aborted)
          return { done: index, verdicts, problem };
        verdicts.push(this.#judge(own, { kind: 'unreadable', cause: readFailed, detail: result.detail }, null));
        return { done: index + 1, verdicts, problem };
      }
      const verdict = this.#judge(own, result, await this.#differenceOf(own, result));
      verdicts.push(own.received.isRecent && isDifference(verdict) ? undelivered(own) : verdict);
    }
    return { done: entries.length, verdicts, problem: null };
  }

  async #readBack(wanted: readonly ComparableEntry[]): Promise<HeldResult[]> {
    const { sink } = this.#audited;
    const read = await sink.readBack!(
      wanted.map((entry) => entry.wanted),
      this.#lane,
      this.signals.ends,
    );
    return wanted.map((_, index) => read[index] ?? { kind: 'retry', detail: 'the sink returned no result' });
  }

  #judge(entry: ComparableEntry, result: ReadResult, difference: Difference | null): Verdict {
    const sink = { isLog: this.#isLog, removesHeld: this.#audited.sink.removeHeld !== undefined };
    return judgeHeld(entry, result, difference, sink);
  }

  /** Compares a held entry with its operation and, if it differs, finds out whether it is an earlier state. */
  async #differenceOf(entry: ComparableEntry, result: ReadResult): Promise<Difference | null> {
    const { operation, expected } = entry.wanted;
    if (result.kind !== 'held' || operation === null) return null;
    const { sink } = this.#audited;
    const compare: CompareHeld = (one, held) => sink.compareHeld!(one, held);
    const fields = compare(operation, result.held);
    if (fields.length === 0) return null;
    if (this.#isLog || expected === 'absence') return { fields, staleBy: null };
    const earlier = await earlierOperations(this.deps.ledger.db, this.#audited, entry);
    if (earlier.some((one) => compare(one, result.held).length === 0)) return { fields, staleBy: 'revision' };
    if (result.changedBy !== undefined || result.changedAt !== undefined) return { fields, staleBy: null };
    if (await isOlderMapping(this.deps, this.audit.open.name, entry.received.configuration))
      return { fields, staleBy: 'mapping' };
    return { fields, staleBy: entry.received.relatedChanged ? 'related' : null };
  }
}

interface Problem {
  readonly detail: string;
  readonly afterMs: number | undefined;
}
