import { performance } from 'node:perf_hooks';
import type { Candidate } from './candidates.js';
import { halvesOf, type PartReply, sendInParts } from '../sinks/records/send-in-parts.js';
import type { Lane, Operation, Outcome, SendResult } from '../sinks/sink.js';

/** The sink's `send`. */
type Send = (operations: readonly Operation[], lane: Lane, signal: AbortSignal) => Promise<SendResult>;

interface Apart {
  readonly lane: Lane;
  readonly signal: AbortSignal;
  /** The change of each operation. */
  readonly changes: readonly Pick<Candidate, 'list' | 'key' | 'attempts'>[];
  /** True if the last batch of the lane failed as well. */
  readonly isFailing: boolean;
}

/** If a request took longer, the destination is slow, and further requests would only delay the lane. */
const slowMs = 10_000;
/** Maximum time for the smaller batches of one batch. */
const longestMs = 20_000;

/**
 * Sends a batch in parts, so that one record cannot hold back the others. Some destinations answer with an error to every request
 * that contains a certain record. Records that failed while others passed are sent apart from the rest. If everything in
 * such a batch fails, or everything in a batch of a failing lane, the batch is halved until the records are found.
 *
 * A later revision of an item never passes an earlier one: where a batch is sent in parts, it waits for the next batch.
 *
 * An outage costs two more requests for each batch: unless the destination accepts the last or the first record alone,
 * nothing is halved.
 */
export async function sendApart(operations: readonly Operation[], apart: Apart, send: Send): Promise<SendResult> {
  const sending = new ApartSending(operations, apart, send);
  const isSuspect = (index: number): boolean => apart.changes[index]!.attempts > 0;
  const all = operations.map((_, index) => index);
  const items = new Set<string>();
  const first = all.filter((index) => {
    const { list, key } = apart.changes[index]!;
    const isFirst = !items.has(`${list} ${key}`);
    items.add(`${list} ${key}`);
    return isFirst;
  });
  await sending.deliver(
    first.filter((index) => !isSuspect(index)),
    apart.isFailing,
  );
  await sending.deliver(first.filter(isSuspect), true);
  return sending.result;
}

class ApartSending {
  readonly #outcomes: (Outcome | undefined)[];
  readonly #startedAt = performance.now();
  #memory: Readonly<Record<string, unknown>> | undefined;

  constructor(
    private readonly operations: readonly Operation[],
    private readonly apart: Apart,
    private readonly send: Send,
  ) {
    this.#outcomes = operations.map(() => undefined);
  }

  get result(): SendResult {
    const outcomes = this.#outcomes.map((outcome): Outcome => outcome ?? { kind: 'unsent' });
    return { outcomes, ...(this.#memory !== undefined && { memory: this.#memory }) };
  }

  /** @param isolates whether to search for the record at fault if everything fails */
  async deliver(indexes: readonly number[], isolates: boolean): Promise<void> {
    if (indexes.length === 0 || this.#isPaused) return;
    const failed = await this.#sendOnce(indexes);
    const passed = indexes.some((index) => isAccepted(this.#outcomes[index]));
    const isSlow = performance.now() - this.#startedAt > slowMs;
    if (!isolates || passed || failed.length < 2 || isSlow) return;
    // The destination may be down. One record at each end shows whether it accepts smaller batches.
    const ends = [failed.at(-1)!, failed[0]!];
    for (const end of ends) {
      if ((await this.#sendOnce([end])).length === 0) {
        const tried = ends.slice(0, ends.indexOf(end) + 1);
        return await this.#isolate(failed.filter((index) => !tried.includes(index)));
      }
    }
  }

  async #isolate(indexes: readonly number[]): Promise<void> {
    const send = async (part: readonly number[]): Promise<PartReply<number>> => {
      const failed = await this.#sendOnce(part);
      return { accepted: failed.length < part.length, again: failed.length > 1 ? failed : [] };
    };
    const { left } = await sendInParts(halvesOf(indexes), send, () => this.#mayContinue);
    // A record that is not sent again waits for the next batch, as if it had not been sent.
    for (const index of left) this.#outcomes[index] = { kind: 'unsent' };
  }

  get #mayContinue(): boolean {
    const { signal } = this.apart;
    const isInTime = performance.now() - this.#startedAt < longestMs;
    return isInTime && !signal.aborted && !this.#isPaused;
  }

  get #isPaused(): boolean {
    return this.#outcomes.some((outcome) => outcome?.kind === 'pause');
  }

  /** @returns those that failed although the destination answered, and requested no wait */
  async #sendOnce(indexes: readonly number[]): Promise<number[]> {
    const lane = { ...this.apart.lane, memory: { ...this.apart.lane.memory, ...this.#memory } };
    const own = indexes.map((index) => this.operations[index]!);
    const { outcomes, memory } = await this.send(own, lane, this.apart.signal);
    indexes.forEach((index, at) => {
      this.#outcomes[index] = outcomes[at] ?? { kind: 'unknown', detail: 'the sink returned no outcome' };
    });
    if (memory !== undefined) this.#memory = { ...this.#memory, ...memory };
    return indexes.filter((index) => mayBeFaultOfOther(this.#outcomes[index]));
  }
}

/** Whether the outcome may have been caused by another record of the same request. */
function mayBeFaultOfOther(outcome: Outcome | undefined): boolean {
  return outcome?.kind === 'retry' && (outcome.afterMs ?? 0) === 0;
}

/** Whether the outcome shows that the destination works. */
function isAccepted(outcome: Outcome | undefined): boolean {
  return outcome?.kind === 'delivered' || outcome?.kind === 'rejected';
}
