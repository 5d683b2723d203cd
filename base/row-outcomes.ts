/**
 * The outcome of a row.
 * - `created`; `confirmed`: created, proven by a duplicate error after a lost answer
 * - `existing`: it existed before; `conflict`: its code existed with different data, which only the dashboard can change
 * - `rejected` by the service; `invalid`: never sent, because it has problems in the file
 * - `unknown`: no answer of the service tells whether it exists
 * - `waiting`: still to be sent, or a running import holds its code; `cancelled`: the import ended before it was sent
 */
export const rowOutcomes = [
  'created',
  'confirmed',
  'existing',
  'conflict',
  'rejected',
  'invalid',
  'unknown',
  'waiting',
  'cancelled',
] as const;
export type RowOutcome = (typeof rowOutcomes)[number];
