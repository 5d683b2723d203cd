/** Runs tasks one at a time, in the order of the calls. */
export class Exclusive {
  #last: Promise<unknown> = Promise.resolve();

  /** @returns false if the signal was aborted before `work` started; rethrows errors of `work` */
  async run(signal: AbortSignal, work: () => Promise<void>): Promise<boolean> {
    const turn = this.#last.then(async () => {
      if (signal.aborted) return false;
      await work();
      return true;
    });
    this.#last = turn.catch(() => undefined);
    return await turn;
  }
}
