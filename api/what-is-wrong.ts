import { z } from '@hono/zod-openapi';
import { findProblems, shownProblems, type Standing } from '../operations/find-problems.js';
import { type Problem, problemCodes, problemLine, severities } from '../operations/problems.js';
import { actionSchema } from './action.js';

/** One problem that keeps data from flowing, in words, with what helps. */
export const troubleSchema = z
  .object({
    code: z.enum(problemCodes).describe('Stable, for programs.'),
    severity: z
      .enum(severities)
      .describe(
        '`error`: data does not flow as configured, and an operator should act now; `warning`: it flows, but not as it should.',
      ),
    stops: z.boolean().describe('Nothing is read or sent there while the problem lasts.'),
    kind: z.enum(['process', 'workspace', 'pigeonhole', 'sink']),
    name: z.string().describe('As an action names it; empty for the process.'),
    title: z.string().describe('One sentence without its full stop; alerts have the same.'),
    detail: z
      .string()
      .nullable()
      .describe('Words of the service, a destination or a person; alerts never contain them.'),
    says: z.string().nullable().describe('Details and consequences.'),
    advice: z.string().nullable().describe('The action that helps; null: the problem passes without one.'),
    text: z.string().describe('`title`, `detail` and `says` as one paragraph.'),
    since: z.iso.datetime().nullable(),
    saysSince: z.boolean().describe('`text` names the instant `since`.'),
    help: z
      .object({
        label: z.string().describe('Label of a button.'),
        action: actionSchema.nullable().describe('Body for `POST /api/actions`; null: the button leads to `see`.'),
        see: z.string().nullable().describe('Address of the details.'),
      })
      .nullable()
      .describe('Null: it passes without an action, or no button helps.'),
  })
  .openapi('Trouble');
export type Trouble = z.infer<typeof troubleSchema>;

/** Returns everything that a person on duty should know, errors first. Pure. */
export function whatIsWrong(standing: Standing): Trouble[] {
  return shownProblems(findProblems(standing)).map(viewProblem);
}

function viewProblem(problem: Problem): Trouble {
  const { code, severity, stops, kind, name, title, detail, says, todo, since, saysSince, help } = problem;
  return {
    code,
    severity,
    stops,
    kind,
    name,
    title,
    detail,
    says,
    advice: todo,
    text: problemLine(problem),
    since: since?.toISOString() ?? null,
    saysSince,
    help,
  };
}
