/** A turn that fails is tried again within half a minute: what was not told for so long is not tried any more. */
const forgottenAfterMs = 5 * 60_000;

/**
 * What keeps turns from their work as a whole: the store, or the process. A turn that goes well says nothing of another
 * one: with a full disk those that only read go well, and those that store fail.
 */
export class TurnTroubles {
  readonly #failures = new Map<string, { readonly failure: string; readonly atMs: number }>();

  /** @param nowMs of a clock that only rises */
  constructor(private readonly nowMs: () => number) {}

  /** @param failure null: the turn went well */
  note(turn: string, failure: string | null): void {
    this.#failures.delete(turn); // so that the latest stands last
    if (failure !== null) this.#failures.set(turn, { failure, atMs: this.nowMs() });
  }

  /** The latest; null when no turn fails. */
  get present(): string | null {
    const from = this.nowMs() - forgottenAfterMs;
    return [...this.#failures.values()].findLast(({ atMs }) => atMs >= from)?.failure ?? null;
  }
}
