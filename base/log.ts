/** Structured log, one line per event. A line holds ids, counts and outcomes, never names, answers or texts of people. */
export interface Log {
  debug(facts: Readonly<Record<string, unknown>>, event: string): void;
  info(facts: Readonly<Record<string, unknown>>, event: string): void;
  warn(facts: Readonly<Record<string, unknown>>, event: string): void;
  error(facts: Readonly<Record<string, unknown>>, event: string): void;
}
