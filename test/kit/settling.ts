/** What a round of turns has come to. */
export interface Round {
  /** Something is due at once. */
  readonly isDue: boolean;
  /** Something was found or delivered. */
  readonly hasMoved: boolean;
}

/** Longer than a round takes where the machine is not held up by others; shorter than any interval of polls. */
const slowMs = 1000;
const mostIdleRounds = 10;

/**
 * Goes round until nothing is due. Rounds that take longer than the intervals of polls make everything due anew, so
 * that on a slow machine there would be no end: when ten such have moved nothing, nothing is left but those polls.
 */
export async function settleByRounds(goRound: () => Promise<Round>): Promise<void> {
  for (let idleRounds = 0; idleRounds < mostIdleRounds;) {
    const startedAt = performance.now();
    const { isDue, hasMoved } = await goRound();
    if (!isDue) return;
    idleRounds = hasMoved || performance.now() - startedAt < slowMs ? 0 : idleRounds + 1;
  }
}
