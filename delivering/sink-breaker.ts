import type { Ledger } from '../ledger/ledger.js';
import { lockLanesOf } from '../ledger/lock-order.js';

const lanesAtOnce = 4;
/** So many lanes that fail one after the other, with none that passes, are the sink's fault and not theirs. */
const failuresToOpen = 2;
const longestWaitMs = 5 * 60_000;
/** A sink that has taken so many at once after an outage takes whole batches again. */
const rampedUp = 64;

/**
 * One for a turn of a sink: whether its lanes may go on. A sink none of whose lanes passes is tried by one lane with
 * one change, and not by each of them for itself; once that passes, twice as many are sent each time, so that a
 * backlog does not fell what has just come back. Pure but for what it counts.
 */
export class SinkBreaker {
  #ramp: number | null;
  #failures = 0;
  #passed = false;
  #retryInMs: number | null = null;

  /** @param fullBatch of the sink: a ramp that has reached it is over */
  constructor(
    private readonly before: Omit<SinkStanding, 'triedNowAtMs'>,
    private readonly fullBatch: number,
  ) {
    this.#ramp = before.failingForMs > 0 ? 1 : before.ramp;
  }

  /** Nothing may be sent now. */
  get isOpen(): boolean {
    return this.#retryInMs !== null || (this.before.failingForMs > 0 && !this.#passed && this.before.retryInMs > 0);
  }

  /** Pigeonholes that may be sent to at once. */
  get lanesAtOnce(): number {
    return this.#ramp === null ? lanesAtOnce : 1;
  }

  /** Changes that may be sent at once. */
  get batchSize(): number {
    return this.#ramp ?? this.fullBatch;
  }

  /** Not all that may be sent at other times. */
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
   * A lane found that nothing passes.
   * @param retryInMs when it will try again
   * @param failsAlone it did so before while others passed: that says nothing of the sink
   */
  failed(retryInMs: number, failsAlone: boolean): void {
    if (failsAlone) return;
    this.#failures += 1;
    const wasFailing = this.before.failingForMs > 0 && !this.#passed;
    if (this.#passed || (!wasFailing && this.#failures < failuresToOpen)) return;
    const own = Math.min(this.before.failingForMs / 2, longestWaitMs);
    this.#retryInMs = Math.max(this.#retryInMs ?? 0, retryInMs, own);
  }

  /** What is to be stored at the end of the turn; undefined: nothing has changed. */
  get verdict(): { readonly retryInMs: number | null; readonly ramp: number | null } | undefined {
    if (this.#retryInMs !== null) return { retryInMs: this.#retryInMs, ramp: null };
    if (!this.#passed) return undefined;
    const isAsBefore = this.before.failingForMs === 0 && this.before.ramp === this.#ramp;
    return isAsBefore ? undefined : { retryInMs: null, ramp: this.#ramp };
  }
}

/** How a sink as a whole stands, over all its lanes. */
export interface SinkStanding {
  /** Since when nothing has passed anywhere; 0: something does. */
  readonly failingForMs: number;
  /** Until it is tried again; 0 or less: now. */
  readonly retryInMs: number;
  /** It has begun to pass again: so many changes at once. Null: as many as it takes. */
  readonly ramp: number | null;
  /** When an operator last asked to try the sink now, in epoch ms; null: never. */
  readonly triedNowAtMs: number | null;
}

export async function sinkStanding(ledger: Ledger, sinkId: number): Promise<SinkStanding> {
  const [row] = await ledger.db.query<{
    failing_ms: number;
    retry_ms: number;
    ramp: number | null;
    tried_ms: number | null;
  }>(
    `select coalesce(extract(epoch from now() - failing_since), 0)::float8 * 1000 as failing_ms,
       coalesce(extract(epoch from retry_at - now()), 0)::float8 * 1000 as retry_ms, ramp,
       (extract(epoch from try_now_at) * 1000)::float8 as tried_ms
     from sinks where id = $1`,
    [sinkId],
  );
  return { failingForMs: row!.failing_ms, retryInMs: row!.retry_ms, ramp: row!.ramp, triedNowAtMs: row!.tried_ms };
}

/** @param retryInMs null: it passes */
export async function saveSinkStanding(
  ledger: Ledger,
  sinkId: number,
  { retryInMs, ramp }: { readonly retryInMs: number | null; readonly ramp: number | null },
): Promise<void> {
  await ledger.db.query(
    `update sinks set ramp = $3,
       failing_since = case when $2::float8 is not null then coalesce(failing_since, now()) end,
       retry_at = now() + $2::float8 * interval '1 millisecond'
     where id = $1`,
    [sinkId, retryInMs, ramp],
  );
}

/**
 * An operator says that the cause is gone: the sink, its lanes and the deliveries that failed are due now, whatever they
 * wait for. Lanes keep their order, a millisecond apart: with one instant for all, each try would begin with the same lane,
 * and one that always fails would keep the others waiting. Every process also forgets how long the destination asked it to wait.
 */
export async function trySinkNow(ledger: Ledger, name: string): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    await lockLanesOf(tx, name);
    await tx.query(
      `update lanes l set due_at = least(l.due_at, now()),
         retry_at = case when l.retry_at > now() then now() - o.place * interval '1 millisecond' else l.retry_at end
       from (select w.sink_id, w.ref, row_number() over (order by w.retry_at desc nulls last, w.ref desc) - 1 as place
         from lanes w join sinks s on s.id = w.sink_id where s.name = $1) o
       where l.sink_id = o.sink_id and l.ref = o.ref`,
      [name],
    );
    await tx.query(
      `update deliveries d set due_at = now() from sinks s
       where s.name = $1 and d.sink_id = s.id and d.state = 'retry' and d.due_at > now()`,
      [name],
    );
    await tx.query('update sinks set retry_at = least(retry_at, now()), try_now_at = now() where name = $1', [name]);
  });
}
