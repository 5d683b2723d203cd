/** Names and values as a process has them. Every function here takes one, so that a test needs no real environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** This process's environment as it is now. The only place that reads it: every other room is given values. */
export function processEnvironment(): Environment {
  return { ...process.env };
}
