import { type PartReply, sendInParts } from '../records/send-in-parts.js';
import { fieldsOf, type Lane, type Result } from '../sink.js';
import type { Clock } from '../network/rolling-limiter.js';
import type { Reply } from './classify.js';
import { type CanvasClient, readSubmission } from './client.js';
import type { CallBudget } from '../rest/rest-client.js';
import { followJob, readJob, wait, type StartedJob, startedJob, jobKey, withoutUsers } from './grading-job.js';
import { decideGrade, isSet, stateHash, type Submission } from './grade-rules.js';
import { type Assignment, type Creations, findAssignment, findOrCreate } from './find-assignment.js';
import type { MadeGrade, GradeTask } from './plan.js';

export interface GradingRun {
  readonly client: CanvasClient;
  readonly budget: CallBudget;
  readonly lane: Lane;
  readonly clock: Clock;
  readonly creations: Creations;
  /** The lane's memory to commit with the outcomes, by key. */
  readonly memory: Record<string, unknown>;
}

/** Waits before grades are read again after a job: Canvas may read from a replica that is slightly behind. */
const LOOK_AGAIN_AFTER_MS = [1_000, 2_000];
const JOB_RUNNING_WAIT_MS = 15_000;
/**
 * Number of concurrent readers. It is low because Canvas charges a high cost for a request in progress until the real
 * cost is known.
 */
const READERS = 2;

interface Pending {
  readonly task: GradeTask;
  readonly before: Submission;
}

/**
 * Sets the grades of one assignment: reads the submissions, starts one job of Canvas for those that may be written,
 * follows the job, and reads the submissions again. A job that fails is halved until the refused grade is found.
 * States of a grade: read → settled (already set, set by someone else, or no student) or sent → settled by the second
 * read, or `unknown` if the job has not finished in time.
 */
export async function sendAssignment(tasks: readonly GradeTask[], run: GradingRun): Promise<void> {
  const { client, budget, lane, memory } = run;
  const target = tasks[0]!.step;
  const key = jobKey(target);
  const started = startedJob(lane.memory, key);
  if (started?.progress != null) {
    const state = await readJob(client, started.progress, budget);
    if (state.kind === 'no-answer') return settleAll(tasks, state.result);
    if (state.kind === 'running') {
      const detail = `Canvas is still running an earlier job for this assignment (progress ${started.progress})`;
      return settleAll(tasks, { kind: 'retry', afterMs: JOB_RUNNING_WAIT_MS, detail });
    }
  }
  const assignment = await assignmentFor(tasks, run);
  if ('kind' in assignment) return settleAll(tasks, assignment);
  const pending = await readAndDecide(tasks, started, assignment, run);
  // Students whose submission was just read no longer have to be compared with the earlier job.
  const earlierJob = withoutUsers(
    started,
    pending.read.map(({ userId }) => userId),
  );
  if (started !== undefined) memory[key] = earlierJob;
  await sendInParts(
    [pending.toWrite],
    (group) => runJob(group, earlierJob, assignment, run),
    () => !budget.signal.aborted,
  );
}

/** Returns the assignment if it can be graded, or else the outcome of its grades. */
async function assignmentFor(
  tasks: readonly GradeTask[],
  { client, budget, creations }: GradingRun,
): Promise<Assignment | Result> {
  const target = tasks[0]!.step;
  const creation = tasks.find(({ step }) => step.create !== undefined)?.step.create;
  const found =
    creation === undefined
      ? await findAssignment(client, target, budget)
      : await findOrCreate(client, target, { creation, creations }, budget);
  switch (found.kind) {
    case 'failed':
      return found.result;
    case 'missing': {
      const detail = 'no assignment in this course has that name: create it in Canvas, or set "createAssignment"';
      return { kind: 'rejected', cause: 'assignment-not-found', detail };
    }
    case 'not-found': {
      const sentence = 'the assignment does not exist in this Canvas course, or the course does not exist';
      return rejected('assignment-not-found', sentence, found);
    }
    case 'found':
      if (found.assignment.isPublished) return found.assignment;
      return {
        kind: 'rejected',
        cause: 'assignment-not-published',
        detail: 'the assignment is not published: publish it in Canvas',
      };
    default:
      return refused(found);
  }
}

/** Reads the submission of each student, and settles the grades that must not be written. */
async function readAndDecide(
  tasks: readonly GradeTask[],
  started: StartedJob | undefined,
  assignment: Assignment,
  run: GradingRun,
): Promise<{ readonly read: readonly Submission[]; readonly toWrite: Pending[] }> {
  const found = await readAll(
    tasks.map((task) => ({ task, user: task.step.user })),
    assignment.path,
    run,
  );
  const toWrite: Pending[] = [];
  for (const { task, before } of found) {
    if (toWrite.some((other) => other.before.userId === before.userId)) {
      const detail = 'another item sets the grade of the same student in the same assignment';
      task.settle({ kind: 'rejected', cause: 'student-graded-twice', detail, about: 'record' });
      continue;
    }
    const gradedAtBefore = started?.users[String(before.userId)];
    const mayBeOurs = gradedAtBefore !== undefined && gradedAtBefore !== before.gradedAt;
    switch (decideGrade(task.step, before, mayBeOurs, assignment)) {
      case 'same':
        task.deliver(madeOf(task, before), withVisibility('the grade is already in Canvas', before));
        break;
      case 'leave': {
        const detail =
          'a teacher or another system has set, changed or cleared this grade in Canvas: set "overwrite: true" to replace it';
        task.settle({ kind: 'rejected', cause: 'graded-by-somebody-else', detail, about: 'record' });
        break;
      }
      case 'write':
        toWrite.push({ task, before });
    }
  }
  return { read: found.map(({ before }) => before), toWrite };
}

/** Starts a job of Canvas for a group of grades and settles those whose result is clear. */
async function runJob(
  group: readonly Pending[],
  earlierJob: StartedJob | null,
  assignment: Assignment,
  run: GradingRun,
): Promise<PartReply<Pending>> {
  const { client, budget, lane, clock, memory } = run;
  const tasks = group.map(({ task }) => task);
  const key = jobKey(tasks[0]!.step);
  const gradedBefore = group.map(({ before }) => [String(before.userId), before.gradedAt] as const);
  const users = { ...earlierJob?.users, ...Object.fromEntries(gradedBefore) };
  await lane.remember({ [key]: { progress: null, users } satisfies StartedJob });
  for (const { task, before } of group) task.startedFor = before.userId;
  delete memory[key]; // keeps the intent that was just stored, unless its outcome is known below
  const reply = await client.post(
    `${assignment.path}/submissions/update_grades`,
    {
      grade_data: Object.fromEntries(
        group.map(({ task, before }) => [before.userId, { posted_grade: task.step.grade }]),
      ),
    },
    budget,
  );
  if (reply.kind === 'failed' && reply.processed === 'maybe') {
    settleAll(tasks, { kind: 'unknown', detail: detailOf(reply.result) });
    return 'over';
  }
  if (reply.kind !== 'ok') {
    memory[key] = earlierJob;
    if (reply.kind === 'refused' && group.length > 1) return { accepted: false, again: group };
    settleAll(tasks, reply.kind === 'failed' ? reply.result : refused(reply));
    return reply.kind === 'failed' ? 'over' : { accepted: false, again: [] };
  }
  const progress = fieldsOf(reply.body)['id'];
  if (typeof progress !== 'number') {
    settleAll(tasks, { kind: 'unknown', detail: 'Canvas started a job and did not return its id' });
    return 'over';
  }
  await lane.remember({ [key]: { progress, users } satisfies StartedJob });
  const state = await followJob(client, progress, budget, clock);
  if (state.kind === 'running' || state.kind === 'no-answer') {
    const detail = `Canvas has not finished setting the grade yet (progress ${progress})`;
    settleAll(tasks, { kind: 'unknown', detail });
    return 'over';
  }
  memory[key] = earlierJob;
  let left = await settleSet(group, assignment, run);
  for (const waitMs of state.kind === 'completed' ? LOOK_AGAIN_AFTER_MS : []) {
    if (left.length === 0) break;
    await wait(waitMs, budget.signal, clock);
    left = await settleSet(left, assignment, run);
  }
  const isAccepted = left.length < group.length;
  if (state.kind === 'failed') {
    for (const { task, before } of left.filter(({ before: { userId } }) => state.names.has(String(userId)))) {
      const detail = `Canvas refuses to grade student ${before.userId} in this assignment (progress ${progress})`;
      task.settle({ kind: 'rejected', cause: 'student-not-gradable', detail, about: 'record' });
    }
    left = left.filter(({ task }) => !task.isSettled);
    if (group.length > 1) return { accepted: isAccepted, again: left };
  }
  const detail = `Canvas finished job ${progress} (${state.kind}) without setting the grade: it may be locked, or not valid for this assignment`;
  settleAll(
    left.map(({ task }) => task),
    { kind: 'rejected', cause: 'grade-not-taken', detail },
  );
  return { accepted: isAccepted, again: [] };
}

/** Settles the grades that are in Canvas now; returns the others. */
async function settleSet(group: readonly Pending[], assignment: Assignment, run: GradingRun): Promise<Pending[]> {
  const after = await readAll(
    group.map(({ task, before }) => ({ task, user: String(before.userId) })),
    assignment.path,
    run,
    (result) => ({ kind: 'unknown', detail: `the grade was sent and could not be verified: ${detailOf(result)}` }),
  );
  for (const { task, before: now } of after) {
    const { before } = group.find((each) => each.task === task)!;
    if (isSet(task.step.grade, before, now, assignment))
      task.deliver(madeOf(task, now), withVisibility('the grade is set', now));
  }
  return group.filter(({ task }) => !task.isSettled);
}

/**
 * Finds out which grades of one assignment an earlier attempt with an unknown outcome has set. Grades that Canvas did
 * not set stay `unsent`.
 */
export async function recoverAssignment(tasks: readonly GradeTask[], run: GradingRun): Promise<void> {
  const { client, budget, lane, memory } = run;
  const key = jobKey(tasks[0]!.step);
  const started = startedJob(lane.memory, key);
  if (started === undefined) return;
  if (started.progress !== null) {
    const state = await readJob(client, started.progress, budget);
    if (state.kind === 'no-answer') return settleAll(tasks, inDoubt(state.result));
    if (state.kind === 'running') {
      const detail = `Canvas has not finished setting the grade yet (progress ${started.progress})`;
      return settleAll(tasks, { kind: 'unknown', detail });
    }
  }
  const result = await findAssignment(client, tasks[0]!.step, budget);
  if (result.kind === 'failed') return settleAll(tasks, inDoubt(result.result));
  if (result.kind !== 'found') return; // no grade can be there, and `send` reports the problem
  const { assignment } = result;
  const found = await readAll(
    tasks.map((task) => ({ task, user: task.step.user })),
    assignment.path,
    run,
    inDoubt,
  );
  const settled: number[] = [];
  for (const { task, before: now } of found) {
    const gradedAt = started.users[String(now.userId)];
    if (gradedAt === undefined || !isSet(task.step.grade, { gradedAt }, now, assignment)) continue;
    task.deliver(madeOf(task, now), withVisibility('the grade is set', now));
    settled.push(now.userId);
  }
  memory[key] = withoutUsers(started, settled);
}

/**
 * Keeps a grade in doubt if its submission cannot be read. If Canvas refuses to show it, for example because it has no
 * such student, the grade is `unsent`, and `send` reports the refusal.
 */
function inDoubt(result: Result): Result {
  if (result.kind === 'pause') return result;
  return result.kind === 'rejected' ? { kind: 'unsent' } : { kind: 'unknown', detail: detailOf(result) };
}

/** Reads submissions, a few at the same time. `otherwise` converts the result of those that cannot be read. */
async function readAll(
  wanted: readonly { readonly task: GradeTask; readonly user: string }[],
  path: string,
  { client, budget }: GradingRun,
  otherwise: (result: Result) => Result = (result) => result,
): Promise<Pending[]> {
  const found: (Pending | undefined)[] = wanted.map(() => undefined);
  const entries = wanted.entries(); // shared: each reader continues with the next entry
  const read = async (): Promise<void> => {
    for (const [index, { task, user }] of entries) {
      const reply = await readSubmission(client, { path, user }, budget);
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
    const refusal = rejected('student-not-found', 'Canvas has no such student in this assignment: check "user"', reply);
    return { ...refusal, about: 'record' };
  }
  return refused(reply);
}

function refused(reply: Exclude<Reply, { kind: 'ok' | 'failed' }>): Result {
  if (reply.kind === 'forbidden') {
    return rejected('no-permission', "the token's user may not grade in this Canvas course", reply);
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

/** Adds to a detail that the student may not see the grade yet. */
function withVisibility(sentence: string, { isHidden }: Submission): string {
  return isHidden === true ? `${sentence}; the student sees it once a teacher posts it` : sentence;
}

function madeOf({ step }: GradeTask, now: Submission): MadeGrade {
  const { course, assignment, sent } = step;
  return { course, assignment, sent, left: { userId: now.userId, state: stateHash(now) } };
}

function settleAll(tasks: readonly GradeTask[], result: Result): void {
  for (const task of tasks) task.settle(result);
}

function detailOf(result: Result): string {
  return 'detail' in result && result.detail !== undefined ? result.detail : 'the attempt was stopped';
}
