/** Maximum number of slow reads of a workspace at a time: half of a client's connections, so that the others stay free. */
const maxAtOnce = 4;
/** A list counts as slow for this time after a request for it was slow. */
const rememberedMs = 5 * 60_000;

/**
 * Remembers which lists the service answers slowly, so that no cycle waits for them, and limits how many of them are
 * read at a time. A process has one memory for all workspaces. If another process does not know that a list is slow, it
 * finds out with its first request.
 */
export class SlowLists {
  readonly #slowAt = new Map<number, number>();
  readonly #reading = new Map<string, number>();

  /** @param now monotonic clock, ms */
  constructor(private readonly now: () => number) {}

  /** Whether the stream's list was slow a short time ago. */
  isSlow(streamId: number): boolean {
    const at = this.#slowAt.get(streamId);
    if (at !== undefined && this.now() - at < rememberedMs) return true;
    this.#slowAt.delete(streamId);
    return false;
  }

  /** Whether another slow list of the workspace may be read. */
  hasRoom(workspace: string): boolean {
    return (this.#reading.get(workspace) ?? 0) < maxAtOnce;
  }

  /**
   * Notes that a read in progress is slow.
   * @returns a function to call when the read has ended
   */
  started(workspace: string, streamId: number): () => void {
    this.#slowAt.set(streamId, this.now());
    this.#reading.set(workspace, (this.#reading.get(workspace) ?? 0) + 1);
    return () => this.#reading.set(workspace, this.#reading.get(workspace)! - 1);
  }

  /** Notes that a read of the stream was not slow. */
  recovered(streamId: number): void {
    this.#slowAt.delete(streamId);
  }
}
