import { CallsEnded } from './call-failure.js';

/** Lets one after the other do something, in the order in which they came. */
export class Exclusive {
  #last: Promise<unknown> = Promise.resolve();

  /** @throws {CallsEnded} when its turn comes after it was stopped; and whatever `work` throws */
  async run<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    const turn = this.#last.then(async () => {
      if (signal.aborted) throw new CallsEnded();
      return await work();
    });
    this.#last = turn.catch(() => undefined);
    return await turn;
  }
}
