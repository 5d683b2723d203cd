import type { Ledger } from '../ledger/ledger.js';
import { endPostponements } from '../ledger/deliveries.js';
import { endWaits } from '../ledger/lanes.js';
import { lockLanesOf } from '../ledger/lock-order.js';
import { findSink, noteTryNow } from '../ledger/sinks.js';
import { hasFewOpen } from './read-lanes.js';
import { fewRecords } from './settle-outcomes.js';

type LaneName = { readonly sinkId: number; readonly ref: number };

/**
 * If a sink with few open deliveries fails for longer than this, the failure is blamed on the records (decision 0078).
 */
const blameRecordsAfterMs = 3 * 24 * 60 * 60_000;

/**
 * Returns true if the records are at fault and not the sink. Either the lane fails and has few open deliveries while
 * other lanes pass, or it has failed for days (`blameRecordsAfterMs`) and the whole sink has few open deliveries.
 */
export async function areRecordsAtFault(
  ledger: Ledger,
  { sinkId, ref }: LaneName,
  failingForMs: number,
  { otherLanesDeliver, added }: { readonly otherLanesDeliver: boolean; readonly added: number },
): Promise<boolean> {
  if (failingForMs === 0 || (!otherLanesDeliver && failingForMs < blameRecordsAfterMs)) return false;
  return await hasFewOpen(ledger, { sinkId, ref: otherLanesDeliver ? ref : null }, fewRecords - added);
}

/**
 * Returns true if few deliveries are open across all lanes of the sink. Reads the ledger only if the batch had a
 * rejection and no success.
 * @param added the number of changes that were sent and have no delivery yet, so that they are subtracted from the limit
 */
export async function areFewLeft(
  ledger: Ledger,
  { sinkId }: LaneName,
  outcomes: readonly { readonly kind: string }[],
  added: number,
): Promise<boolean> {
  const kinds = new Set(outcomes.map(({ kind }) => kind));
  if (!kinds.has('rejected') || kinds.has('delivered')) return false;
  return await hasFewOpen(ledger, { sinkId, ref: null }, fewRecords - added);
}

const lanesAtOnce = 4;
/** If this number of lanes fail in a row, the failure is blamed on the sink. */
const failuresToOpen = 2;
const longestWaitMs = 5 * 60_000;
/** The batch size, doubled with each batch after an outage, from which on full batches are sent again. */
const rampedUp = 64;

/**
 * Circuit breaker for one cycle of a sink. While the sink is failing, only one lane tries it, with a single change.
 * Once that change passes, each batch doubles in size, so that the backlog does not overload a destination that just
 * recovered.
 */
export class SinkBreaker {
  #ramp: number | null;
  #failures = 0;
  #passed = false;
  #retryInMs: number | null = null;

  /** @param fullBatch the sink's batch size: the ramp ends when it is reached */
  constructor(
    private readonly before: Omit<SinkHealth, 'triedNowAtMs'>,
    private readonly fullBatch: number,
  ) {
    this.#ramp = before.failingForMs > 0 ? 1 : before.ramp;
  }

  /** True if nothing may be sent now. */
  get isOpen(): boolean {
    return this.#retryInMs !== null || (this.before.failingForMs > 0 && !this.#passed && this.before.retryInMs > 0);
  }

  /** Maximum number of lanes that send concurrently. */
  get lanesAtOnce(): number {
    return this.#ramp === null ? lanesAtOnce : 1;
  }

  /** Maximum number of changes in a batch. */
  get batchSize(): number {
    return this.#ramp ?? this.fullBatch;
  }

  /** True if batches are smaller than usual, because the sink recovers. */
  get isRamping(): boolean {
    return this.#ramp !== null;
  }

  passed(): void {
    this.#passed = true;
    this.#failures = 0;
    if (this.#ramp === null) return;
    this.#ramp = this.#ramp * 2 >= Math.min(rampedUp, this.fullBatch) ? null : this.#ramp * 2;
  }

  /**
   * Records that a lane failed.
   * @param retryInMs the wait before the lane tries again
   * @param otherLanesDeliver true if other lanes have passed since this lane started to fail: its failure then does not
   * count against the sink
   */
  failed(retryInMs: number, otherLanesDeliver: boolean): void {
    if (otherLanesDeliver) return;
    this.#failures += 1;
    const wasFailing = this.before.failingForMs > 0 && !this.#passed;
    if (this.#passed || (!wasFailing && this.#failures < failuresToOpen)) return;
    const own = Math.min(this.before.failingForMs / 2, longestWaitMs);
    this.#retryInMs = Math.max(this.#retryInMs ?? 0, retryInMs, own);
  }

  /** The state to store at the end of the cycle; undefined if unchanged. */
  get verdict(): { readonly retryInMs: number | null; readonly ramp: number | null } | undefined {
    if (this.#retryInMs !== null) return { retryInMs: this.#retryInMs, ramp: null };
    if (!this.#passed) return undefined;
    const isAsBefore = this.before.failingForMs === 0 && this.before.ramp === this.#ramp;
    return isAsBefore ? undefined : { retryInMs: null, ramp: this.#ramp };
  }
}

/** The health of a sink over all its lanes. */
export interface SinkHealth {
  /** Time since the sink started to fail; 0 if it works. */
  readonly failingForMs: number;
  /** Time until the next attempt; 0 or less: now. */
  readonly retryInMs: number;
  /** Maximum batch size while the sink recovers; null: full batches. */
  readonly ramp: number | null;
  /** Time of the operator's last request to try the sink now, in epoch ms; null: never. */
  readonly triedNowAtMs: number | null;
}

/**
 * Returns the health of a sink at the start of a cycle. If a lane waits after a failure under other settings, ends the
 * waits of the sink first: the wait may have been requested by another destination.
 * @param sink.fingerprint of the sink's settings; null if it has none
 */
export async function healthForCycle(
  ledger: Ledger,
  { id, name, fingerprint }: { readonly id: number; readonly name: string; readonly fingerprint: string | null },
): Promise<SinkHealth> {
  const { waitsForOtherSettings, ...health } = await readSinkHealth(ledger, id, fingerprint);
  if (!waitsForOtherSettings) return health;
  await trySinkNow(ledger, name);
  return await readSinkHealth(ledger, id, fingerprint);
}

async function readSinkHealth(
  ledger: Ledger,
  sinkId: number,
  settings: string | null,
): Promise<SinkHealth & { readonly waitsForOtherSettings: boolean }> {
  const [row] = await ledger.db.query<{
    failing_ms: number;
    retry_ms: number;
    ramp: number | null;
    tried_ms: number | null;
    other_settings: boolean;
  }>(
    `select coalesce(extract(epoch from now() - failing_since), 0)::float8 * 1000 as failing_ms,
       coalesce(extract(epoch from retry_at - now()), 0)::float8 * 1000 as retry_ms, ramp,
       (extract(epoch from try_now_at) * 1000)::float8 as tried_ms,
       exists (select 1 from lanes l where l.sink_id = $1 and l.retry_at > now() and l.settings <> $2) as other_settings
     from sinks where id = $1`,
    [sinkId, settings],
  );
  return {
    failingForMs: row!.failing_ms,
    retryInMs: row!.retry_ms,
    ramp: row!.ramp,
    triedNowAtMs: row!.tried_ms,
    waitsForOtherSettings: row!.other_settings,
  };
}

/**
 * Makes the sink, its lanes and its open deliveries due now, because an operator resolved the cause or changed the sink's
 * settings. This includes the deliveries that the sink postponed because its destination requested a wait.
 */
export async function trySinkNow(ledger: Ledger, name: string): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    await lockLanesOf(tx, name);
    const id = await findSink(tx, name);
    if (id === undefined) return;
    await endWaits(tx, id);
    await endPostponements(tx, id);
    await noteTryNow(tx, id);
  });
}
