import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest computation without a pause. Requests, heartbeats and timers of the process wait that long at most. */
const sliceMs = 8;

/** Divides a long computation into slices, so that the other work of the process runs between them. */
export class WorkSlices {
  #startedMs = performance.now();

  /** Call it between two parts of the work. Lets other work run if the current slice has been long enough. */
  async pause(): Promise<void> {
    if (performance.now() - this.#startedMs < sliceMs) return;
    await nextTurn();
    this.#startedMs = performance.now();
  }
}
