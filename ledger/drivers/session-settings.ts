/**
 * Settings that both drivers apply to every new connection.
 * - The forms in which `result-values.ts` reads results, whatever the defaults of the server or the user are.
 * - A new plan for each run of a statement. A plan kept from the first runs suits the tables as they were then: empty
 *   during a first walk, so that each page was compared by reading all pages before it (measured: 25 ms a page grew to
 *   43 ms within 30,000 items). Planning again costs 0.1 ms; the statement's text is still parsed once.
 * - No JIT compilation: PostgreSQL chooses it by the estimated cost, and all of these statements end after a few rows
 *   (measured: 120 of the 125 ms of taking a batch from a backlog of 40,000).
 */
export const sessionSettings =
  "set timezone = 'UTC'; set datestyle = 'ISO'; set bytea_output = 'hex'; set plan_cache_mode = force_custom_plan; set jit = off";
