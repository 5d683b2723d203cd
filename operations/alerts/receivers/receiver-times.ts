/** How long a receiver may take; shorter than the lease by which one process at a time sends to it. */
export const receiverTimes = { connectTimeoutMs: 10_000, requestTimeoutMs: 20_000 } as const;
