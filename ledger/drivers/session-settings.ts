/**
 * What every connection of both drivers is told first.
 * - The forms in which `result-values.ts` reads results, whatever the server's or the user's defaults are.
 * - A plan for each run of a statement. One kept from the first runs is made for the tables as they were then: in a
 *   first walk empty, so that each page was compared by reading all pages before it (measured: 25 ms a page grew to
 *   43 ms within 30,000 items). Planning anew costs 0.1 ms; the statement's text is still parsed once.
 * - No compiling of plans: it is chosen by what a statement might cost, and all of these end after a few rows (measured:
 *   120 of the 125 ms of taking a batch from a backlog of 40,000).
 */
export const sessionSettings =
  "set timezone = 'UTC'; set datestyle = 'ISO'; set bytea_output = 'hex'; set plan_cache_mode = force_custom_plan; set jit = off";
