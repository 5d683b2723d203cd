import { z } from '@hono/zod-openapi';
import { actionSchema } from './action.js';
import {
  type ProblemFacts,
  type ProblemTraits,
  type ProblemWords,
  severities,
  subjectKinds,
} from './problem-traits.js';
import { pageOf, type ProblemCode, problemCodes, traitsOf } from './problems.js';

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
    kind: z.enum(subjectKinds),
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
    state: z
      .string()
      .nullable()
      .describe('State of its subject in a word, such as `behind`; null: the number of its problems states it.'),
    page: z
      .string()
      .nullable()
      .describe('Address of the page that shows it, such as `#/sink/crm?part=preview`; null: no page does.'),
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
  /** The sentences that leave the installation are built from nothing else. */
  readonly facts: ProblemFacts;
  /** Words of a vendor, the service or a person. The page and the CLI show them, alerts never do. */
  readonly detail: string | null;
  readonly since: Date | null;
  /** Another problem explains this one, so it is not shown beside it. */
  readonly coveredBy: ProblemCode | null;
}

export type Problem = FoundProblem &
  ProblemWords &
  Pick<ProblemTraits, 'severity' | 'stops' | 'state'> &
  Pick<Trouble, 'page' | 'saysSince' | 'help'>;

/** Returns a found problem with what the catalogue knows about it. Pure. */
export function describeProblem(found: FoundProblem): Problem {
  const { code, kind, name, facts, since } = found;
  const { severity, stops, state, page, words, help } = traitsOf(code);
  // A start that is among the facts is in the sentences. The end of a wait may be in the same minute, but is another
  // instant.
  const saysSince = since !== null && Object.values(facts).includes(since.toISOString());
  const address = pageOf(page, kind, name);
  return {
    ...found,
    ...words(name, facts),
    severity,
    stops,
    state,
    page: address === null ? null : `#${address}`,
    saysSince,
    help: help(found),
  };
}

/** Returns one line for a log or a terminal: title, detail and consequences. Pure. */
export function problemLine({ title, detail, says }: Pick<Problem, 'title' | 'detail' | 'says'>): string {
  return `${title}${detail === null ? '' : `: ${detail.replace(/\.$/, '')}`}.${says === null ? '' : ` ${says}`}`;
}
