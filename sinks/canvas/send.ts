import { fieldsOf, type Lane, type Result } from '../sink.js';
import type { Clock } from '../network/rolling-limiter.js';
import { type Asking, type CanvasClient, type Reply, readSubmission } from './client.js';
import { followJob, lookAtJob, wait, type BegunJob, begunJob, jobKey, withoutUsers } from './grading-job.js';
import { decideGrade, isTaken, stateHash, type Submission } from './grade-rules.js';
import { type Assignment, type Creations, findAssignment, findOrCreate } from './find-assignment.js';
import type { MadeGrade, GradeTask } from './operation.js';

export interface Sending {
  readonly client: CanvasClient;
  readonly asking: Asking;
  readonly lane: Lane;
  readonly clock: Clock;
  readonly creations: Creations;
  /** What the lane is to remember at the end, by key. */
  readonly memory: Record<string, unknown>;
}

/** A job whose grades do not show: Canvas may answer from a copy that is behind by moments. */
const LOOK_AGAIN_AFTER_MS = [1_000, 2_000];
const JOB_RUNNING_WAIT_MS = 15_000;
/** Canvas charges requests that are under way side by side in advance, so there are few. */
const READERS = 2;

interface Pending {
  readonly task: GradeTask;
  readonly before: Submission;
}

/**
 * Sets the grades of one assignment: reads what stands there, has Canvas write what may be written in one job, follows
 * the job and reads again what it did. A job that fails is halved, until a grade that Canvas refuses stands alone.
 * States of a grade: read → (settled: it stands already, is somebody else's, or has no student) → asked for →
 * settled by what is read at the end, or `unknown` where the job has not ended in time.
 */
export async function sendAssignment(tasks: readonly GradeTask[], sending: Sending): Promise<void> {
  const { client, asking, lane, memory } = sending;
  const target = tasks[0]!.step;
  const key = jobKey(target);
  const begun = begunJob(lane.memory, key);
  if (begun?.progress != null) {
    const state = await lookAtJob(client, begun.progress, asking);
    if (state.kind === 'not-told') return settleAll(tasks, state.result);
    if (state.kind === 'running') {
      const detail = `Canvas is still at an earlier job of this assignment (progress ${begun.progress})`;
      return settleAll(tasks, { kind: 'retry', afterMs: JOB_RUNNING_WAIT_MS, detail });
    }
  }
  const at = await assignmentFor(tasks, sending);
  if ('kind' in at) return settleAll(tasks, at);
  const pending = await readAndDecide(tasks, begun, at, sending);
  const carried = withoutUsers(
    begun,
    pending.read.map(({ userId }) => userId),
  );
  if (begun !== undefined) memory[key] = carried;
  const groups = pending.toWrite.length === 0 ? [] : [pending.toWrite];
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    const rest = await runJob(group, carried, at, sending);
    if (rest === 'stop') return;
    if (rest.length === 1) groups.unshift(rest);
    if (rest.length > 1)
      groups.unshift(rest.slice(0, Math.ceil(rest.length / 2)), rest.slice(Math.ceil(rest.length / 2)));
  }
}

/** The assignment that may be graded, or what is the matter with it. */
async function assignmentFor(
  tasks: readonly GradeTask[],
  { client, asking, creations }: Sending,
): Promise<Assignment | Result> {
  const target = tasks[0]!.step;
  const creation = tasks.find(({ step }) => step.create !== undefined)?.step.create;
  const found =
    creation === undefined
      ? await findAssignment(client, target, asking)
      : await findOrCreate(client, target, { creation, creations }, asking);
  switch (found.kind) {
    case 'failed':
      return found.result;
    case 'missing': {
      const detail = 'no assignment of this course has the name: create it in Canvas, or set "createAssignment"';
      return { kind: 'rejected', cause: 'assignment-not-found', detail };
    }
    case 'refused': {
      const sentence = 'Canvas has no such assignment in this course, or no such course';
      return found.reply.kind === 'not-found'
        ? rejected('assignment-not-found', sentence, found.reply)
        : refused(found.reply);
    }
    case 'found':
      if (found.assignment.isPublished) return found.assignment;
      return {
        kind: 'rejected',
        cause: 'assignment-not-published',
        detail: 'the assignment is not published in Canvas',
      };
  }
}

/** Reads what stands there for each student, and settles what is not to be written. */
async function readAndDecide(
  tasks: readonly GradeTask[],
  begun: BegunJob | undefined,
  at: Assignment,
  sending: Sending,
): Promise<{ readonly read: readonly Submission[]; readonly toWrite: Pending[] }> {
  const found = await readAll(
    tasks.map((task) => ({ task, user: task.step.user })),
    at.path,
    sending,
  );
  const toWrite: Pending[] = [];
  for (const { task, before } of found) {
    if (toWrite.some((other) => other.before.userId === before.userId)) {
      const detail = 'another item sets the grade of the same student in the same assignment';
      task.settle({ kind: 'rejected', cause: 'student-graded-twice', detail, about: 'record' });
      continue;
    }
    const gradedAtBefore = begun?.users[String(before.userId)];
    const mayBeOurs = gradedAtBefore !== undefined && gradedAtBefore !== before.gradedAt;
    switch (decideGrade(task.step, before, mayBeOurs, at)) {
      case 'same':
        task.deliver(madeOf(task, before), said('the grade stands in Canvas already', before));
        break;
      case 'leave': {
        const detail =
          'somebody else has set, changed or cleared this grade in Canvas: "overwrite: true" would replace it';
        task.settle({ kind: 'rejected', cause: 'graded-by-somebody-else', detail, about: 'record' });
        break;
      }
      case 'write':
        toWrite.push({ task, before });
    }
  }
  return { read: found.map(({ before }) => before), toWrite };
}

/**
 * Has Canvas write a group of grades and settles those that are clear.
 * @returns those that have to be tried in smaller groups; `stop`: nothing more is to be written now
 */
async function runJob(
  group: readonly Pending[],
  carried: BegunJob | null,
  at: Assignment,
  sending: Sending,
): Promise<Pending[] | 'stop'> {
  const { client, asking, lane, clock, memory } = sending;
  const tasks = group.map(({ task }) => task);
  const key = jobKey(tasks[0]!.step);
  if (asking.signal.aborted) return 'stop';
  const begunAt = group.map(({ before }) => [String(before.userId), before.gradedAt] as const);
  const users = { ...carried?.users, ...Object.fromEntries(begunAt) };
  await lane.remember({ [key]: { progress: null, users } satisfies BegunJob });
  delete memory[key]; // what was just remembered holds, unless it is settled below
  const reply = await client.post(
    `${at.path}/submissions/update_grades`,
    {
      grade_data: Object.fromEntries(
        group.map(({ task, before }) => [before.userId, { posted_grade: task.step.grade }]),
      ),
    },
    asking,
  );
  if (reply.kind === 'failed' && reply.processed === 'maybe') {
    settleAll(tasks, { kind: 'unknown', detail: detailOf(reply.result) });
    return 'stop';
  }
  if (reply.kind !== 'ok') {
    memory[key] = carried;
    if (reply.kind === 'refused' && group.length > 1) return [...group];
    settleAll(tasks, reply.kind === 'failed' ? reply.result : refused(reply));
    return reply.kind === 'failed' ? 'stop' : [];
  }
  const progress = fieldsOf(reply.body)['id'];
  if (typeof progress !== 'number') {
    settleAll(tasks, { kind: 'unknown', detail: 'Canvas began a job and did not say which' });
    return 'stop';
  }
  await lane.remember({ [key]: { progress, users } satisfies BegunJob });
  const state = await followJob(client, progress, asking, clock);
  if (state.kind === 'running' || state.kind === 'not-told') {
    const detail = `Canvas has not finished setting the grade yet (progress ${progress})`;
    settleAll(tasks, { kind: 'unknown', detail });
    return 'stop';
  }
  memory[key] = carried;
  let left = await settleTaken(group, at, sending);
  for (const waitMs of state.kind === 'completed' ? LOOK_AGAIN_AFTER_MS : []) {
    if (left.length === 0) break;
    await wait(waitMs, asking.signal, clock);
    left = await settleTaken(left, at, sending);
  }
  if (state.kind === 'failed') {
    for (const { task, before } of left.filter(({ before: { userId } }) => state.names.has(String(userId)))) {
      const detail = `Canvas does not let student ${before.userId} be graded in this assignment (progress ${progress})`;
      task.settle({ kind: 'rejected', cause: 'student-not-gradable', detail, about: 'record' });
    }
    left = left.filter(({ task }) => !task.isSettled);
    if (group.length > 1) return left;
  }
  const detail = `Canvas ended its job ${progress} (${state.kind}) and did not take the grade: it may be locked, or no grade of this assignment`;
  settleAll(
    left.map(({ task }) => task),
    { kind: 'rejected', cause: 'grade-not-taken', detail },
  );
  return [];
}

/** Settles what stands in Canvas now; gives back the others. */
async function settleTaken(group: readonly Pending[], at: Assignment, sending: Sending): Promise<Pending[]> {
  const after = await readAll(
    group.map(({ task, before }) => ({ task, user: String(before.userId) })),
    at.path,
    sending,
    (result) => ({ kind: 'unknown', detail: `the grade was sent and could not be read again: ${detailOf(result)}` }),
  );
  for (const { task, before: now } of after) {
    const { before } = group.find((each) => each.task === task)!;
    if (isTaken(task.step.grade, before, now, at)) task.deliver(madeOf(task, now), said('the grade is set', now));
  }
  return group.filter(({ task }) => !task.isSettled);
}

/**
 * After an attempt whose end nobody knows: what became of the grades of one assignment. `unsent` are those that
 * Canvas did not take.
 */
export async function recoverAssignment(tasks: readonly GradeTask[], sending: Sending): Promise<void> {
  const { client, asking, lane, memory } = sending;
  const key = jobKey(tasks[0]!.step);
  const begun = begunJob(lane.memory, key);
  if (begun === undefined) return;
  if (begun.progress !== null) {
    const state = await lookAtJob(client, begun.progress, asking);
    if (state.kind === 'not-told') return settleAll(tasks, inDoubt(state.result));
    if (state.kind === 'running') {
      const detail = `Canvas has not finished setting the grade yet (progress ${begun.progress})`;
      return settleAll(tasks, { kind: 'unknown', detail });
    }
  }
  const at = await findAssignment(client, tasks[0]!.step, asking);
  if (at.kind === 'failed') return settleAll(tasks, inDoubt(at.result));
  if (at.kind !== 'found') return; // so nothing of it stands there, and `send` tells what is the matter
  const { assignment } = at;
  const found = await readAll(
    tasks.map((task) => ({ task, user: task.step.user })),
    assignment.path,
    sending,
    inDoubt,
  );
  const settled: number[] = [];
  for (const { task, before: now } of found) {
    const gradedAt = begun.users[String(now.userId)];
    if (gradedAt === undefined || !isTaken(task.step.grade, { gradedAt }, now, assignment)) continue;
    task.deliver(madeOf(task, now), said('the grade is set', now));
    settled.push(now.userId);
  }
  memory[key] = withoutUsers(begun, settled);
}

/** What is not clear now stays in doubt; what Canvas has no student for is for `send` to tell. */
function inDoubt(result: Result): Result {
  if (result.kind === 'pause') return result;
  return result.kind === 'rejected' ? { kind: 'unsent' } : { kind: 'unknown', detail: detailOf(result) };
}

/** Reads some submissions, a few at once. What cannot be read is settled by `otherwise`. */
async function readAll(
  wanted: readonly { readonly task: GradeTask; readonly user: string }[],
  path: string,
  { client, asking }: Sending,
  otherwise: (result: Result) => Result = (result) => result,
): Promise<Pending[]> {
  const found: (Pending | undefined)[] = wanted.map(() => undefined);
  const entries = wanted.entries(); // shared: each reader takes the next one that none has taken
  const read = async (): Promise<void> => {
    for (const [index, { task, user }] of entries) {
      const reply = await readSubmission(client, { path, user }, asking);
      if (reply.kind === 'found') found[index] = { task, before: reply.submission };
      else task.settle(otherwise(notRead(reply)));
    }
  };
  await Promise.all(Array.from({ length: READERS }, read));
  return found.filter((each) => each !== undefined);
}

function notRead(reply: Exclude<Reply, { kind: 'ok' }>): Result {
  if (reply.kind === 'failed') return reply.result;
  if (reply.kind === 'not-found') {
    const refusal = rejected(
      'student-not-found',
      'Canvas has no such student in this assignment: look at "user"',
      reply,
    );
    return { ...refusal, about: 'record' };
  }
  return refused(reply);
}

function refused(reply: Exclude<Reply, { kind: 'ok' | 'failed' }>): Result {
  if (reply.kind === 'forbidden') {
    return rejected('no-permission', "the token's user may not grade in this course of Canvas", reply);
  }
  return rejected(`canvas:${reply.status}`, 'Canvas refused the grade', reply);
}

function rejected(
  cause: string,
  sentence: string,
  { status, requestId }: { readonly status: number; readonly requestId: string | undefined },
): Extract<Result, { kind: 'rejected' }> {
  const detail = `${sentence} (HTTP ${status}${requestId === undefined ? '' : `, request ${requestId}`})`;
  return { kind: 'rejected', cause, detail };
}

/** Adds what a person wonders about who looks for the grade. */
function said(sentence: string, { isHidden }: Submission): string {
  return isHidden === true ? `${sentence}; its student sees it once a teacher posts it` : sentence;
}

function madeOf({ step }: GradeTask, now: Submission): MadeGrade {
  const { course, assignment, sent } = step;
  return { course, assignment, sent, left: { userId: now.userId, state: stateHash(now) } };
}

function settleAll(tasks: readonly GradeTask[], result: Result): void {
  for (const task of tasks) task.settle(result);
}

function detailOf(result: Result): string {
  return 'detail' in result && result.detail !== undefined ? result.detail : 'it was stopped';
}
