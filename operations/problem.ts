import { z } from '@hono/zod-openapi';
import { actionSchema } from './action.js';
import type { AlertFacts } from './alerts/alert-store.js';

/**
 * Codes are a contract with programs: `GET /api/status`, the label `code` of `pigeonpost_problems`. Never rename one.
 */
export const problemCodes = [
  'process-failing',
  'file-unusable',
  'service-down',
  'workspace-paused',
  'workspace-waiting',
  'quota-used-up',
  'quota-short',
  'drop-folder-unreadable',
  'pigeonhole-paused',
  'pigeonhole-failing',
  'pigeonhole-gone',
  'reading-late',
  'deletions-held',
  'filters-ignored',
  'rows-set-aside',
  'unknown-sessions',
  'sink-paused',
  'sink-failing',
  'sink-behind',
  'sink-withholding',
  'event-withheld',
  'sink-observing',
  'dead-letters',
] as const;
export type ProblemCode = (typeof problemCodes)[number];

export const severities = ['error', 'warning', 'notice'] as const;

/** One problem that stops or slows the flow of data, as text, with the action that helps. */
export const troubleSchema = z
  .object({
    code: z.enum(problemCodes).describe('Stable code for programs.'),
    severity: z
      .enum(severities)
      .describe(
        '`error`: data that should flow does not, and an operator should act now; `warning`: data flows, but something needs attention; `notice`: for information.',
      ),
    stops: z
      .boolean()
      .describe(
        'Whether the process, workspace, pigeonhole or sink named here reads or receives nothing while the problem lasts.',
      ),
    kind: z.enum(['process', 'workspace', 'pigeonhole', 'sink']),
    name: z.string().describe('Name as used in actions; empty for the process.'),
    title: z.string().describe('One sentence without its full stop, the same as in alerts.'),
    detail: z
      .string()
      .nullable()
      .describe('Text from the service, a destination or a person. Alerts never contain it.'),
    says: z.string().nullable().describe('Details and consequences.'),
    advice: z.string().nullable().describe('The action that helps; null: the problem ends without one.'),
    text: z.string().describe('`title`, `detail` and `says` as one paragraph.'),
    lists: z.int().nullable().describe('Number of lists that are late or fail; null: the problem is not about lists.'),
    since: z.iso.datetime().nullable(),
    saysSince: z.boolean().describe('Whether `text` contains the instant `since`.'),
    help: z
      .object({
        label: z.string().describe('Label of a button.'),
        action: actionSchema.nullable().describe('Body for `POST /api/actions`; null: the button leads to `see`.'),
        see: z.string().nullable().describe('Address of the details.'),
      })
      .nullable()
      .describe('Null: the problem ends without an action, or no button helps.'),
  })
  .openapi('Trouble');
export type Trouble = z.infer<typeof troubleSchema>;

/** A problem as a rule finds it. */
export interface FoundProblem extends Pick<Trouble, 'code' | 'kind' | 'name'> {
  /** Counts, codes and instants only. The sentences that leave the installation are built from nothing else. */
  readonly facts: AlertFacts;
  /** Words of a vendor, the service or a person. The page and the CLI show them, alerts never do. */
  readonly detail: string | null;
  readonly since: Date | null;
  /** Another problem explains this one, so it is not shown beside it. */
  readonly coveredBy: ProblemCode | null;
}

/** The sentences about one problem, the same on the page, in `status`, in alerts and in the log. */
export interface ProblemWords extends Pick<Trouble, 'title' | 'says'> {
  /** The action that helps, in whole sentences; null: the problem passes without one. */
  readonly todo: string | null;
}

export type Problem = FoundProblem & ProblemWords & Pick<Trouble, 'severity' | 'stops' | 'saysSince' | 'help'>;

/** Returns one line for a log or a terminal: title, detail and consequences. Pure. */
export function problemLine({ title, detail, says }: Pick<Problem, 'title' | 'detail' | 'says'>): string {
  return `${title}${detail === null ? '' : `: ${detail.replace(/\.$/, '')}`}.${says === null ? '' : ` ${says}`}`;
}
