import { fieldsOf, type CheckLine } from '../sink.js';
import { mentionedFields } from '../mapping/mentioned-fields.js';
import type { GradeKeys } from './config.js';
import type { Asking, CanvasClient, Reply } from './client.js';
import { type Assignment, findAssignment, type Target } from './find-assignment.js';
import { pathPart, referenceValue } from './grade-rules.js';
import type { MappingView } from '../mapping/mapping-view.js';

/**
 * Whether Canvas takes the token, and for courses and assignments that the configuration names outright: whether they
 * are there and may be graded. Reads only. Never throws.
 */
export async function checkCanvas(
  client: CanvasClient,
  records: readonly GradeKeys[],
  asking: Asking,
): Promise<CheckLine[]> {
  const self = await client.get('/users/self', asking);
  if (self.kind !== 'ok')
    return [{ ok: false, text: sentenceFor(self, `${client.host} does not say whose token it is`) }];
  const lines: CheckLine[] = [{ ok: true, text: `${client.host} takes the token` }];
  const seen = new Set<string>();
  for (const [index, keys] of records.entries()) {
    const target = await namedOutright(keys);
    if (target === undefined) {
      const text = `records[${index}] takes course or assignment from each item: whether they are there shows when it sends`;
      lines.push({ ok: true, text });
    } else if (!seen.has(JSON.stringify(target))) {
      seen.add(JSON.stringify(target));
      lines.push(await lineFor(client, target, keys, asking));
    }
  }
  return lines;
}

/** Course and assignment where they are the same for all items. */
async function namedOutright({ course, assignment }: GradeKeys): Promise<Target | undefined> {
  if ([course, assignment].some((expression) => mentionedFields(expression).length > 0)) return undefined;
  try {
    const names = {
      course: await course.evaluate(sampleView, 'course', referenceValue),
      assignment: await assignment.evaluate(sampleView, 'assignment', referenceValue),
    };
    return names.course === null || names.assignment === null ? undefined : (names as Target);
  } catch {
    return undefined; // what it gives for an item is told with the item
  }
}

async function lineFor(
  client: CanvasClient,
  { course, assignment }: Target,
  keys: GradeKeys,
  asking: Asking,
): Promise<CheckLine> {
  const coursePath = `/courses/${pathPart(course)}`;
  const rights = await client.get(`${coursePath}/permissions?permissions[]=manage_grades`, asking);
  if (rights.kind !== 'ok') return { ok: false, text: sentenceFor(rights, `course ${course} cannot be read`) };
  if (fieldsOf(rights.body)['manage_grades'] !== true) {
    return { ok: false, text: `the token's user may not edit grades in course ${course}: make them a teacher there` };
  }
  const found = await findAssignment(client, { course, assignment }, asking);
  const name = `assignment ${assignment} of course ${course}`;
  switch (found.kind) {
    case 'failed':
      return { ok: false, text: sentenceFor({ ...found, processed: 'no' }, `${name} cannot be read`) };
    case 'refused':
      return { ok: false, text: sentenceFor(found.reply, `${name} cannot be read`) };
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
  }
}

/** What a number means there: a share of 100 in an assignment of 20 points is a common mistake. */
function worthOf({ points, isPercent }: Assignment): string {
  if (isPercent) return ': a number is a percentage';
  return points === null ? '' : `: a number is points of ${points}, a percentage is text such as "85%"`;
}

function visibilityOf({ isPostedByHand }: Assignment): string {
  if (!isPostedByHand) return '';
  return '. Its posting policy is manual: students see grades once a teacher posts them';
}

function sentenceFor(reply: Exclude<Reply, { kind: 'ok' }>, what: string): string {
  if (reply.kind === 'failed') return 'detail' in reply.result ? (reply.result.detail ?? what) : what;
  const why = {
    'not-found': 'Canvas has no such thing',
    forbidden: 'its user lacks the right',
    refused: 'Canvas refuses',
  };
  return `${what}: ${why[reply.kind]} (HTTP ${reply.status})`;
}

/** What an expression is given that looks at nothing of it. */
const sampleView: MappingView = {
  item: null,
  previous: null,
  attendee: null,
  session: null,
  pigeonhole: null,
  change: {
    id: '00000000-0000-5000-8000-000000000000',
    type: 'engagement.created',
    timestamp: '2026-01-01T00:00:00.000Z',
    workspace: '',
    pigeonholeId: 0,
    sessionId: null,
    list: 'engagement',
    key: '',
    revision: 1,
    sequence: 1,
    data: null,
  },
};
