import { fieldsOf, type CheckLine } from '../sink.js';
import { mentionedFields } from '../mapping/mentioned-fields.js';
import type { GradeKeys } from './config.js';
import type { Reply } from './classify.js';
import type { CanvasClient } from './client.js';
import type { CallBudget } from '../rest/rest-client.js';
import { type Assignment, findAssignment, type Target } from './find-assignment.js';
import { nameValue, pathPart, referenceValue } from './grade-rules.js';
import { nodesOf, type SyntaxNode } from '../mapping/check-syntax.js';
import type { Expression } from '../mapping/expression.js';
import { FailedMapping } from '../mapping/mapping-error.js';
import { emptyView } from '../mapping/probe.js';

/**
 * Checks that Canvas accepts the token, and that the courses and assignments exist and can be graded, unless an
 * expression computes them from each item. Only reads. Never throws.
 */
export async function checkCanvas(
  client: CanvasClient,
  records: readonly GradeKeys[],
  budget: CallBudget,
): Promise<CheckLine[]> {
  const self = await client.get('/users/self', budget);
  if (self.kind !== 'ok')
    return [{ ok: false, text: sentenceFor(self, `${client.host} does not return the token's user`) }];
  const lines: CheckLine[] = [{ ok: true, text: `${client.host} accepts the token` }];
  const seen = new Set<string>();
  for (const [index, keys] of records.entries()) {
    const target = await constantTarget(keys, `records[${index}]`);
    if (target === 'from-items') {
      const text = `records[${index}] reads course or assignment from each item, so they cannot be checked before a grade is sent`;
      lines.push({ ok: true, text });
    } else if ('unusable' in target) {
      lines.push({ ok: false, text: target.unusable });
    } else if (!seen.has(JSON.stringify(target))) {
      seen.add(JSON.stringify(target));
      lines.push(await lineFor(client, target, keys, budget));
    }
  }
  return lines;
}

/**
 * Returns course and assignment if they are the same for all items; `from-items` if they are not.
 * @returns with `unusable`, a sentence: no item can have a grade, because an expression fails or returns nothing
 */
async function constantTarget(
  { course, assignment, createAssignment }: GradeKeys,
  path: string,
): Promise<Target | 'from-items' | { readonly unusable: string }> {
  if (readsItems(course) || readsItems(assignment)) return 'from-items';
  try {
    const names = {
      course: await course.evaluate(emptyView, `${path}.course`, referenceValue),
      assignment: await assignment.evaluate(
        emptyView,
        `${path}.assignment`,
        createAssignment === undefined ? referenceValue : nameValue,
      ),
    };
    if (names.course !== null && names.assignment !== null)
      return { course: names.course, assignment: names.assignment };
    const empty = names.course === null ? 'course' : 'assignment';
    return { unusable: `${path}.${empty} is empty for every item, so no grade is sent: correct the expression` };
  } catch (error) {
    if (!(error instanceof FailedMapping)) throw error;
    return { unusable: `${error.key} ${error.what}. Correct the expression: every item becomes a dead letter` };
  }
}

/** Whether the value may depend on the item: it names a field, or refers to the whole input. */
function readsItems(expression: Expression): boolean {
  const refersToInput = ({ type, value }: SyntaxNode): boolean =>
    type === 'wildcard' || type === 'descendant' || (type === 'variable' && (value === '' || value === '$'));
  return mentionedFields(expression).length > 0 || [...nodesOf(expression.tree)].some(refersToInput);
}

async function lineFor(
  client: CanvasClient,
  { course, assignment }: Target,
  keys: GradeKeys,
  budget: CallBudget,
): Promise<CheckLine> {
  const coursePath = `/courses/${pathPart(course)}`;
  const rights = await client.get(`${coursePath}/permissions?permissions[]=manage_grades`, budget);
  if (rights.kind !== 'ok') return { ok: false, text: sentenceFor(rights, `course ${course} cannot be read`) };
  if (fieldsOf(rights.body)['manage_grades'] !== true) {
    return { ok: false, text: `the token's user may not edit grades in course ${course}: make them a teacher there` };
  }
  const found = await findAssignment(client, { course, assignment }, budget);
  const name = `assignment ${assignment} of course ${course}`;
  switch (found.kind) {
    case 'missing':
      if (keys.createAssignment !== undefined) {
        return { ok: true, text: `${name} does not exist yet: the first grade creates it` };
      }
      return { ok: false, text: `${name} does not exist: create it in Canvas, or set "createAssignment"` };
    case 'found':
      if (!found.assignment.isPublished) {
        return { ok: false, text: `${name} is not published: publish it in Canvas` };
      }
      return { ok: true, text: `${name} can be graded${worthOf(found.assignment)}${visibilityOf(found.assignment)}` };
    default:
      return { ok: false, text: sentenceFor(found, `${name} cannot be read`) };
  }
}

/**
 * Returns an explanation of what a number means in this assignment, because a percentage in an assignment of 20 points
 * is a common mistake.
 */
function worthOf({ points, isPercent }: Assignment): string {
  if (isPercent) return ': a number means a percentage';
  return points === null ? '' : `: a number means points out of ${points}; write a percentage as text, such as "85%"`;
}

function visibilityOf({ isPostedByHand }: Assignment): string {
  if (!isPostedByHand) return '';
  return '. Its posting policy is manual: students see grades once a teacher posts them';
}

function sentenceFor(reply: Exclude<Reply, { kind: 'ok' }>, what: string): string {
  if (reply.kind === 'failed') return 'detail' in reply.result ? (reply.result.detail ?? what) : what;
  const why = {
    'not-found': 'it does not exist in Canvas',
    forbidden: "the token's user lacks the right",
    refused: 'Canvas refuses the request',
  };
  return `${what}: ${why[reply.kind]} (HTTP ${reply.status})`;
}
