/** A wait that can be ended early. Only one caller may wait at a time. */
export class Alarm {
  #isRung = false;
  #end: (() => void) | undefined;

  /** Ends the wait in progress. If there is none, the next one ends immediately. */
  ring(): void {
    this.#isRung = true;
    this.#end?.();
  }

  /** Waits until `ring` is called, at most for `ms`. */
  async wait(ms: number): Promise<void> {
    if (!this.#isRung && ms > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(ms, longestTimerMs));
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#end = undefined;
    }
    this.#isRung = false;
  }
}

/** Node.js ends a longer timer immediately. */
const longestTimerMs = 2 ** 31 - 1;
