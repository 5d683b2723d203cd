import type { CallBudget } from '../rest/rest-client.js';
import type { HeldResult, ReadBack } from '../sink.js';
import type { Reply } from './classify.js';
import { type CanvasClient, readSubmission } from './client.js';
import { type Assignment, findAssignment, type FoundAssignment } from './find-assignment.js';
import { hasGrade, holds, type Scale, stateHash, type Submission } from './grade-rules.js';
import { type CanvasOperation, type GradeStep, isSameAssignment, type MadeGrade, madeGrades } from './plan.js';

/** Number of submissions that are read at the same time, as before a job. */
const READERS = 2;

/** The submission of a student in one assignment. */
export interface HeldGrade {
  readonly course: string;
  readonly assignment: string;
  /** Null if Canvas has no such assignment, or no such student in it. */
  readonly found: Submission | null;
  readonly scale: Scale;
  /** True if a teacher or another system graded it, or excused the student, which this sink never does. */
  readonly isTheirs: boolean;
  /** The grade as this sink left it; undefined if it is not known. */
  readonly made: MadeGrade | undefined;
}

interface Reading {
  readonly client: CanvasClient;
  readonly budget: CallBudget;
  /** The id of the token's user in Canvas. */
  readonly ownId: number;
  readonly assignments: Map<string, Promise<FoundAssignment>>;
}

/**
 * Reads the grades of items, one request for each student and assignment. An assignment is read once.
 * @param ownId returns the id of the token's user, or why it cannot be read
 */
export async function readGrades(
  wanted: readonly ReadBack<CanvasOperation>[],
  {
    client,
    budget,
    ownId,
  }: Pick<Reading, 'client' | 'budget'> & { readonly ownId: (budget: CallBudget) => Promise<number | Unread> },
): Promise<HeldResult[]> {
  const self = await ownId(budget);
  if (typeof self !== 'number') return wanted.map(() => notRead(self));
  const reading: Reading = { client, budget, ownId: self, assignments: new Map() };
  const results: HeldResult[] = wanted.map(() => stopped);
  const entries = wanted.entries(); // shared: each reader continues with the next entry
  const read = async (): Promise<void> => {
    for (const [index, entry] of entries) results[index] = await resultOf(entry, reading);
  };
  await Promise.all(Array.from({ length: READERS }, read));
  return results;
}

const stopped = { kind: 'retry', detail: 'stopped before the grade was read' } as const;

type Unread = Exclude<Reply, { readonly kind: 'ok' }>;

async function resultOf(entry: ReadBack<CanvasOperation>, reading: Reading): Promise<HeldResult> {
  const made = madeGrades(entry.object);
  const held: HeldGrade[] = [];
  for (const target of entry.operation?.steps ?? made.map(asTarget)) {
    const assignment = await assignmentOf(target, reading);
    if ('unread' in assignment) return assignment.unread;
    const submission = await submissionOf(target.user, assignment.found, reading);
    if ('unread' in submission) return submission.unread;
    const { found } = submission;
    held.push({
      course: target.course,
      assignment: target.assignment,
      found,
      scale: assignment.found ?? { points: null, isPercent: false },
      isTheirs: found !== null && (found.excused || (found.graderId !== null && found.graderId !== reading.ownId)),
      made: made.find((each) => isSameAssignment(each, target)),
    });
  }
  const isGone = held.every(({ found }) => found === null || isEmpty(found));
  if (isGone) return { kind: 'missing', ...repairable(entry, held) };
  const changed = held.find((each) => each.isTheirs)?.found;
  return {
    kind: 'held',
    held,
    ...(typeof changed?.graderId === 'number' && { changedBy: `user ${changed.graderId}` }),
    ...(typeof changed?.gradedAt === 'string' && { changedAt: changed.gradedAt }),
    ...repairable(entry, held),
  };
}

type Target = Pick<GradeStep, 'course' | 'assignment' | 'user'>;

function asTarget({ course, assignment, left, mayExist }: MadeGrade): Target {
  return { course, assignment, user: String(mayExist?.userId ?? left?.userId) };
}

/** The submission has neither a grade nor an excuse. */
function isEmpty(found: Submission): boolean {
  return !hasGrade(found) && !found.excused;
}

async function assignmentOf(
  target: Target,
  { client, budget, assignments }: Reading,
): Promise<{ readonly found: Assignment | null } | { readonly unread: HeldResult }> {
  const key = JSON.stringify([target.course, target.assignment]);
  const reply = assignments.get(key) ?? findAssignment(client, target, budget);
  assignments.set(key, reply);
  const found = await reply;
  if (found.kind === 'found') return { found: found.assignment };
  if (found.kind === 'missing' || found.kind === 'not-found') return { found: null };
  return { unread: notRead(found) };
}

async function submissionOf(
  user: string,
  assignment: Assignment | null,
  { client, budget }: Reading,
): Promise<{ readonly found: Submission | null } | { readonly unread: HeldResult }> {
  if (assignment === null) return { found: null };
  const reply = await readSubmission(client, { path: assignment.path, user }, budget);
  if (reply.kind === 'found') return { found: reply.submission };
  return reply.kind === 'not-found' ? { found: null } : { unread: notRead(reply) };
}

function notRead(reply: Unread): HeldResult {
  if (reply.kind === 'failed') {
    const { result } = reply;
    if (result.kind === 'retry' || result.kind === 'pause') return result;
    if (result.kind === 'rejected') return { kind: 'unreadable', cause: result.cause, detail: result.detail };
    return stopped;
  }
  const detail = `Canvas does not show the grade to the token's user (HTTP ${reply.status})`;
  return { kind: 'unreadable', cause: reply.kind === 'forbidden' ? 'no-permission' : `canvas:${reply.status}`, detail };
}

/**
 * Returns the item's object with the submissions as they are now, if they differ. A repair then writes the grade again:
 * otherwise it would leave a grade that is not as this sink left it.
 */
function repairable(
  { operation, object }: ReadBack<CanvasOperation>,
  held: readonly HeldGrade[],
): Pick<HeldResult & { kind: 'missing' }, 'object'> {
  if (operation === null || compareGrades(operation, held).length === 0) return {};
  const grades = madeGrades(object).map((made): MadeGrade => {
    const now = held.find((each) => isSameAssignment(each, made));
    if (now === undefined) return made;
    const { found } = now;
    const left = found === null || isEmpty(found) ? null : { userId: found.userId, state: stateHash(found) };
    return { course: made.course, assignment: made.assignment, sent: null, left };
  });
  return { object: grades.length === 0 ? object : { grades } };
}

/**
 * Returns `grade` or `excused` if Canvas does not have the grades of an operation; `grade` also if a removal would still
 * clear one. A grade that a teacher set is no difference, unless the settings replace such grades. Pure.
 */
export function compareGrades({ steps }: CanvasOperation, held: readonly HeldGrade[]): string[] {
  const names = steps.flatMap((step): string[] => {
    const now = held.find((each) => isSameAssignment(each, step));
    if (now?.found === undefined || now.found === null) return step.grade === '' ? [] : ['grade'];
    const { found, made, scale, isTheirs } = now;
    const isAsLeft = made?.sent === step.sent && made.left?.state === stateHash(found);
    if (isAsLeft || holds(found, step.grade, scale)) return [];
    if (isTheirs && !step.overwrite && !isEmpty(found)) return [];
    return [found.excused ? 'excused' : 'grade'];
  });
  return [...new Set(names)];
}
