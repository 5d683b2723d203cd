/** Result of a round of cycles. */
export interface Round {
  /** Something is due at once. */
  readonly isDue: boolean;
  /** Something was found or delivered. */
  readonly hasMoved: boolean;
}

/** Longer than a round takes where the machine is not held up by others; shorter than any interval of polls. */
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
