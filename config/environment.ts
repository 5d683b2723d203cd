/** Names and values as a process has them. Every function here takes one, so that a test needs no real environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** This process's environment as it is now. The only place that reads it: every other room is given values. */
export function processEnvironment(): Environment {
  return { ...process.env };
}

/**
 * Takes NODE_TLS_REJECT_UNAUTHORIZED=0 out of the environment of this process, which whoever sets it for another tool
 * would weaken. Our own connections say outright that certificates are checked; those of libraries shall not depend on it
 * either. @returns whether it was there
 */
export function dropWeakTls(): boolean {
  if (process.env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return false;
  delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  return true;
}
