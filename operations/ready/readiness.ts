import { z } from '@hono/zod-openapi';
import { instant } from '../../base/printable.js';

/** One check before an event begins. */
const readyCheckSchema = z
  .object({
    id: z.string().describe('Stable code for programs: `sessions`, or `sink:crm` for a check of each sink.'),
    label: z.string().describe('Subject of the check, in a few words.'),
    state: z
      .enum(['ok', 'warning', 'failed', 'unknown'])
      .describe(
        '`failed`: data will not flow as it should; `warning`: an operator should check it, it may be intended; `unknown`: it could not be checked.',
      ),
    says: z.string().describe('The result as a sentence.'),
    todo: z.string().optional().describe('What to do; absent if nothing has to be done.'),
  })
  .openapi('ReadyCheck');
export type ReadyCheck = z.infer<typeof readyCheckSchema>;

/** Whether an event can begin: one list, green or red. */
export const readinessSchema = z
  .object({
    pigeonhole: z.object({
      workspace: z.string(),
      id: z.int(),
      name: z.string().nullable().describe('Name of the event; null, here and in the fields below: not known.'),
      status: z.string().nullable().describe('Status as the service reports it.'),
      startDate: z.string().nullable().describe('YYYY-MM-DD.'),
      endDate: z.string().nullable().describe('YYYY-MM-DD.'),
      timezone: z.string().nullable(),
    }),
    ready: z.boolean().describe('Whether every check could be made and none failed.'),
    asOf: instant().describe('When the checks were made. Requests at short intervals receive the same result.'),
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
