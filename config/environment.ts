/**
 * The environment variables of a process. Functions take them as a parameter, so that tests need no real environment.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns this process's environment. Only this file reads it; every other folder receives values. */
export function processEnvironment(): Environment {
  return { ...process.env };
}

/**
 * Removes NODE_TLS_REJECT_UNAUTHORIZED=0, often set for another tool, from this process's environment. Our own
 * connections always verify certificates; this protects the connections of libraries.
 * @returns whether it was set
 */
export function dropWeakTls(): boolean {
  if (process.env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return false;
  delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  return true;
}
