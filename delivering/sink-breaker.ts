import type { Ledger } from '../ledger/ledger.js';
import { endPostponements } from '../ledger/deliveries.js';
import { endWaits } from '../ledger/lanes.js';
import { lockLanesOf } from '../ledger/lock-order.js';
import { findSink, noteTryNow } from '../ledger/sinks.js';
import type { OpenSink } from '../cycles/collaborators.js';
import { hasFewOpen } from './read-lanes.js';
import type { Settlement } from './send-batch.js';
import { fewRecords, type LaneStatus } from './settle-outcomes.js';

/**
 * If a sink with few open deliveries fails for longer than this, the failure is blamed on the records (decision 0078).
 */
const blameRecordsAfterMs = 3 * 24 * 60 * 60_000;

/**
 * Finds out whether what failed in a batch may be the fault of the records (decision 0078). Counts open deliveries only
 * if the answer depends on them.
 * @param lane.added the number of changes that were sent and have no delivery yet
 */
export async function blameFacts(
  ledger: Ledger,
  { sinkId, pigeonholeNumber }: { readonly sinkId: number; readonly pigeonholeNumber: number },
  settlements: readonly Settlement[],
  lane: {
    readonly added: number;
    readonly failingForMs: number;
    readonly otherLanesDeliver: boolean;
    readonly hasDelivered: boolean;
  },
): Promise<Pick<LaneStatus, 'recordsAtFault' | 'fewLeft'>> {
  const { failingForMs, otherLanesDeliver } = lane;
  const hasFewLeft = async (of: number | null): Promise<boolean> =>
    await hasFewOpen(ledger, { sinkId, pigeonholeNumber: of }, fewRecords - lane.added);
  const mayBlame = failingForMs > 0 && (otherLanesDeliver || failingForMs >= blameRecordsAfterMs);
  const kinds = new Set(settlements.map(({ kind }) => kind));
  const isRefused = lane.hasDelivered && kinds.has('rejected') && !kinds.has('delivered');
  return {
    recordsAtFault: mayBlame && (await hasFewLeft(otherLanesDeliver ? pigeonholeNumber : null)),
    fewLeft: isRefused && (await hasFewLeft(null)),
  };
}

/** Maximum number of lanes that send concurrently. */
const lanesAtOnce = 4;
/** If this number of lanes fail in a cycle and none passes, the failure is blamed on the sink. */
const failuresToOpen = 2;
const longestWaitMs = 5 * 60_000;

/**
 * Circuit breaker of a sink for one cycle. If lanes fail and none passes, the whole sink waits. Then one lane sends one
 * change to ask whether the destination works. If it fails, the sink waits again, for half the time for which it has
 * failed. If it passes, each batch of the cycle doubles in size, so that the backlog does not overload a destination that
 * just recovered.
 */
export class SinkBreaker {
  readonly lanesAtOnce: number;
  #batchSize: number;
  #failures = 0;
  #passed = false;
  #retryInMs: number | null = null;

  /** @param fullBatch the sink's batch size */
  constructor(
    private readonly before: SinkHealth,
    private readonly fullBatch: number,
  ) {
    const isFailing = before.failingForMs > 0;
    this.lanesAtOnce = isFailing ? 1 : lanesAtOnce;
    this.#batchSize = isFailing ? 1 : fullBatch;
  }

  /** Time until the sink may be tried; 0 or less: now. */
  get waitMs(): number {
    if (this.#retryInMs !== null) return this.#retryInMs;
    return this.#passed || this.before.failingForMs === 0 ? 0 : this.before.retryInMs;
  }

  /** True if nothing may be sent now. */
  get isOpen(): boolean {
    return this.waitMs > 0;
  }

  /** Maximum number of changes in a batch. */
  get batchSize(): number {
    return this.#batchSize;
  }

  /** True if batches are smaller than usual, because the sink failed before this cycle. */
  get isRamping(): boolean {
    return this.#batchSize < this.fullBatch;
  }

  passed(): void {
    this.#passed = true;
    this.#batchSize = Math.min(this.#batchSize * 2, this.fullBatch);
  }

  /**
   * Records that a lane failed.
   * @param retryInMs the wait before the lane tries again
   * @param otherLanesDeliver true if other lanes have passed since this lane started to fail: its failure then does not
   * count against the sink
   */
  failed(retryInMs: number, otherLanesDeliver: boolean): void {
    if (otherLanesDeliver || this.#passed) return;
    this.#failures += 1;
    const { failingForMs } = this.before;
    if (failingForMs === 0 && this.#failures < failuresToOpen) return;
    this.#retryInMs = Math.max(this.#retryInMs ?? 0, retryInMs, Math.min(failingForMs / 2, longestWaitMs));
  }

  /** The wait to store at the end of the cycle; null: the sink works; undefined: nothing has changed. */
  get verdict(): number | null | undefined {
    return this.#retryInMs ?? (this.#passed && this.before.failingForMs > 0 ? null : undefined);
  }
}

/** The health of a sink over all its lanes. */
export interface SinkHealth {
  /** Time since the sink started to fail; 0 if it works. */
  readonly failingForMs: number;
  /** Time until the next attempt; 0 or less: now. */
  readonly retryInMs: number;
}

/**
 * For each sink, the time of the last "try now" request that this process has carried out. If the time in the ledger
 * differs, it belongs to a newer request, which is still to be carried out.
 */
const triedNow = new WeakMap<OpenSink, number | null>();

/**
 * Returns the breaker of a sink for a cycle. If a lane waits after a failure under other settings, ends the waits of the
 * sink first: the wait may have been requested by another destination.
 */
export async function openBreaker(ledger: Ledger, sink: OpenSink): Promise<SinkBreaker> {
  let { waitsForOtherSettings, triedNowAtMs, ...health } = await readSinkHealth(ledger, sink);
  if (waitsForOtherSettings) {
    await trySinkNow(ledger, sink.name);
    ({ triedNowAtMs, ...health } = await readSinkHealth(ledger, sink));
  }
  if (triedNowAtMs !== (triedNow.get(sink) ?? null)) {
    triedNow.set(sink, triedNowAtMs);
    sink.sink.tryNow?.();
  }
  return new SinkBreaker(health, sink.sink.traits.batchSize);
}

interface StoredHealth extends SinkHealth {
  /** Time of the operator's last request to try the sink now, in epoch ms; null: never. */
  readonly triedNowAtMs: number | null;
  readonly waitsForOtherSettings: boolean;
}

async function readSinkHealth(ledger: Ledger, { id, fingerprint }: OpenSink): Promise<StoredHealth> {
  const [health] = await ledger.db.query<StoredHealth>(
    `select coalesce(extract(epoch from now() - failing_since), 0)::float8 * 1000 as "failingForMs",
       coalesce(extract(epoch from retry_at - now()), 0)::float8 * 1000 as "retryInMs",
       (extract(epoch from try_now_at) * 1000)::float8 as "triedNowAtMs",
       exists (select 1 from lanes l where l.sink_id = $1 and l.retry_at > now() and l.settings <> $2)
         as "waitsForOtherSettings"
     from sinks where id = $1`,
    [id, fingerprint],
  );
  return health!;
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
