/** Over so long the pace is measured: long enough for a few requests, short enough to follow the service. */
const overMs = 30_000;

/** How fast a count rises, by what was seen of it lately. */
export class Pace {
  #seen: { readonly atMs: number; readonly count: number }[] = [];

  /**
   * @param atMs by a clock that never jumps
   * @returns a second, within the last half a minute; null: nothing to tell yet
   */
  note(count: number, atMs: number): number | null {
    this.#seen.push({ atMs, count });
    // the newest of those that are too old stays: the span begins there
    const recent = this.#seen.findIndex((each) => each.atMs > atMs - overMs);
    if (recent > 1) this.#seen = this.#seen.slice(recent - 1);
    const first = this.#seen[0]!;
    if (atMs - first.atMs < 1000 || count === first.count) return null;
    return (count - first.count) / ((atMs - first.atMs) / 1000);
  }

  /** What follows has nothing to do with what was: after a wait. */
  forget(): void {
    this.#seen = [];
  }
}
