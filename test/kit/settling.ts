/** Result of a round of cycles. */
export interface Round {
  /** Whether something is due immediately. */
  readonly isDue: boolean;
  /** Whether something was found or delivered. */
  readonly hasMoved: boolean;
}

/** Longer than a round on an idle machine, and shorter than any polling interval. */
const slowMs = 1000;
const maxIdleRounds = 10;

/**
 * Runs rounds until nothing is due. A round that takes longer than the polling interval makes every poll due again, so
 * that a slow machine would never finish: after ten rounds that moved nothing, only those polls are left.
 */
export async function settleByRounds(goRound: () => Promise<Round>): Promise<void> {
  for (let idleRounds = 0; idleRounds < maxIdleRounds;) {
    const startedAt = performance.now();
    const { isDue, hasMoved } = await goRound();
    if (!isDue) return;
    idleRounds = hasMoved || performance.now() - startedAt < slowMs ? 0 : idleRounds + 1;
  }
}
