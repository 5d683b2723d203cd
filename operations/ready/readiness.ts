import { z } from '@hono/zod-openapi';
import { instant } from '../../base/printable.js';

/** One line of what has to be in order before an event begins. */
const readyCheckSchema = z
  .object({
    id: z.string().describe('Stable, for programs: `sessions`, or `sink:crm` where there is one of each sink.'),
    label: z.string().describe('Subject of the check, in a few words.'),
    state: z
      .enum(['ok', 'warning', 'failed', 'unknown'])
      .describe(
        '`failed`: data will not flow as it should; `warning`: an operator should check it, it may be intended; `unknown`: it could not be checked.',
      ),
    says: z.string().describe('A sentence: what was found.'),
    todo: z.string().optional().describe('What helps; absent where nothing has to be done.'),
  })
  .openapi('ReadyCheck');
export type ReadyCheck = z.infer<typeof readyCheckSchema>;

/** Whether an event can begin: one list, green or red. */
export const readinessSchema = z
  .object({
    pigeonhole: z.object({
      workspace: z.string(),
      id: z.int(),
      name: z.string().nullable().describe("The event's; null, as the others below: not known."),
      status: z.string().nullable().describe("The service's word."),
      startDate: z.string().nullable().describe('YYYY-MM-DD.'),
      endDate: z.string().nullable().describe('YYYY-MM-DD.'),
      timezone: z.string().nullable(),
    }),
    ready: z.boolean().describe('No check has failed, and every one could be made.'),
    asOf: instant().describe('Questions at short intervals are given the same answer.'),
    checks: z.array(readyCheckSchema).readonly(),
  })
  .openapi('Readiness');
export type Readiness = z.infer<typeof readinessSchema>;

/** Checks that go beyond the ledger's state: the service, the sinks, people, the quota. */
export type EventChecks = Pick<Readiness, 'checks'> & {
  readonly pigeonhole: Pick<Readiness['pigeonhole'], 'name' | 'status' | 'startDate' | 'endDate' | 'timezone'>;
};

/** Pure. */
export function isReady(checks: readonly ReadyCheck[]): boolean {
  return checks.every(({ state }) => state === 'ok' || state === 'warning');
}
