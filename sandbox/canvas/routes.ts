import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import type { CanvasInstance } from './canvas-instance.js';
import {
  CanvasRefusal,
  notFound,
  fromPairs,
  list,
  nested,
  readParameters,
  text,
  type Parameters,
} from './read-parameters.js';
import type { Assignment, CanvasUser, Course, Submission } from './school.js';
import type { Progress } from './grading-jobs.js';

/** An authenticated request, as its route receives it. */
export interface Call {
  readonly canvas: CanvasInstance;
  readonly request: DoubleRequest;
  /** The double's own address, used in links and progress objects. */
  readonly url: string;
  readonly mayGrade: boolean;
  readonly mayCreate: boolean;
  /** Whether the user may read the submissions of other users. */
  readonly mayRead: boolean;
  readonly parts: readonly string[];
}

interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly answer: (call: Call) => DoubleAnswer;
}

const COURSE = '/api/v1/courses/([^/]+)';
const SUBMISSIONS = `${COURSE}/assignments/([^/]+)/submissions`;
const MAX_PAGE = 100;

/** The endpoints that grading needs. Documented: Canvas LMS REST API, Courses, Assignments, Submissions, Users, Progress. */
export const routes: readonly Route[] = [
  route('GET', '/api/v1/users/self', () => ok({ id: 1, name: 'API user' })),
  route('GET', '/api/v1/courses', courses),
  route('GET', `${COURSE}/permissions`, permissions),
  route('GET', `${COURSE}/assignments`, assignments),
  route('POST', `${COURSE}/assignments`, createAssignment),
  route('GET', `${COURSE}/assignments/([^/]+)`, (call) => ok(assignmentJson(courseOf(call), assignmentOf(call)))),
  route('POST', `${SUBMISSIONS}/update_grades`, updateGrades),
  route('GET', `${SUBMISSIONS}/([^/]+)`, (call) => ok(shown(call, submissionOf(call)))),
  route('GET', '/api/v1/progress/([^/]+)', progress),
];

/** "List your courses": `enrollment_type=teacher` and `per_page` are enough for pigeonpost. */
function courses(call: Call): DoubleAnswer {
  const { list: shownOnes, headers } = pageOf(call, call.canvas.school.courses);
  const json = shownOnes.map(({ id, name }) => ({ id, name, course_code: name, workflow_state: 'available' }));
  return { status: 200, json, headers };
}

function route(method: string, path: string, answer: (call: Call) => DoubleAnswer): Route {
  return { method, path: new RegExp(`^${path}/?$`), answer };
}

/** Query parameters that a request may have, by the end of its path. */
const PARAMETERS: readonly (readonly [path: RegExp, names: readonly string[]])[] = [
  [/\/permissions\/?$/, ['permissions[]']],
  [/\/courses\/?$/, ['enrollment_type', 'per_page', 'page']],
  [/\/assignments\/?$/, ['search_term', 'per_page', 'page']],
];

/** Refuses a query parameter that no documented request of a sink has. */
export function checkQuery({ path, query }: DoubleRequest): void {
  const allowed = PARAMETERS.find(([pattern]) => pattern.test(path))?.[1] ?? [];
  refuse([...query.keys()].filter((name) => !allowed.includes(name)));
}

/** Lists the assignments whose name contains `search_term`, which must have at least two characters. */
function assignments(call: Call): DoubleAnswer {
  const course = courseOf(call);
  const term = call.request.query.get('search_term');
  if (term !== null && term.length < 2) throw new CanvasRefusal(400, '2 or more characters is required');
  const found = course.assignments.filter(
    ({ name }) => term === null || name.toLowerCase().includes(term.toLowerCase()),
  );
  const { list: shownOnes, headers } = pageOf(call, found);
  return { status: 200, json: shownOnes.map((each) => assignmentJson(course, each)), headers };
}

/**
 * Accepts only the fields that a sink needs for a new assignment.
 */
function createAssignment(call: Call): DoubleAnswer {
  const course = courseOf(call);
  if (!call.mayCreate) throw unauthorized(call);
  const { assignment, ...more } = parametersOf(call);
  const given = nested({ assignment: assignment ?? {} }, 'assignment');
  const known = ['name', 'points_possible', 'grading_type', 'submission_types', 'published'];
  const unknown = [...Object.keys(more), ...Object.keys(given).filter((name) => !known.includes(name))];
  refuse(unknown);
  const name = text(given, 'name');
  if (name === undefined || name === '') throw new CanvasRefusal(400, 'the name is missing');
  const gradingType = text(given, 'grading_type') ?? 'points';
  if (gradingType !== 'points' && gradingType !== 'percent')
    throw new CanvasRefusal(400, `grading_type ${gradingType} is not supported here`);
  const added = call.canvas.school.addAssignment(course, {
    name,
    pointsPossible: Number(text(given, 'points_possible') ?? 0),
    gradingType,
    published: text(given, 'published') === 'true',
  });
  return { status: 201, json: assignmentJson(course, added) };
}

/** (A) Refuses parameters that grading does not need, so that a test notices superfluous ones. */
function refuse(parameters: readonly string[]): void {
  if (parameters.length > 0) throw new CanvasRefusal(400, `not needed: ${parameters.join(', ')}`);
}

function updateGrades(call: Call): DoubleAnswer {
  const course = courseOf(call);
  const { grade_data: data, ...more } = parametersOf(call);
  const grades = nested({ grade_data: data ?? {} }, 'grade_data');
  const names = Object.keys(grades).flatMap((user) => Object.keys(nested(grades, user)));
  refuse([...Object.keys(more), ...names.filter((name) => name !== 'posted_grade')]);
  if (Object.keys(grades).length === 0) return { status: 400, json: "'grade_data' parameter required" };
  const assignment = published(call, course, call.parts[1]!);
  mustGrade(call);
  return ok(progressJson(call.canvas.jobs.start(course, { assignment, grades }), call.url));
}

function progress(call: Call): DoubleAnswer {
  const found = call.canvas.jobs.find(call.parts[0]!);
  if (found === undefined) throw notFound();
  return ok(progressJson(found, call.url));
}

function permissions(call: Call): DoubleAnswer {
  courseOf(call);
  const asked = list(fromPairs(call.request.query), 'permissions');
  return ok(
    Object.fromEntries(asked.map((name) => [name, name === 'manage_grades' ? call.mayGrade : name === 'read'])),
  );
}

function shown({ canvas }: Call, submission: Submission): Record<string, unknown> {
  return submissionJson(submission, canvas.school.isPostedByHand(submission.assignmentId));
}

/**
 * Returns one page of a list. Clients must follow the address in `Link` to the next page, and must not build it
 * themselves.
 */
function pageOf<Item>(call: Call, all: readonly Item[]): { list: readonly Item[]; headers: Record<string, string> } {
  const { query } = call.request;
  const perPage = Math.min(Math.max(1, Number(query.get('per_page') ?? 10) || 10), MAX_PAGE);
  const number = Math.max(1, Number(query.get('page') ?? 1) || 1);
  const next = new URLSearchParams(query);
  next.set('page', String(number + 1));
  const link = `<${call.url}${call.request.path}?${next.toString()}>; rel="next"`;
  const list = all.slice((number - 1) * perPage, number * perPage);
  return { list, headers: all.length > number * perPage ? { Link: link } : {} };
}

function parametersOf({ request }: Call): Parameters {
  return readParameters(request.headers['content-type'] ?? '', request.body);
}

function courseOf({ canvas, parts }: Call): Course {
  const course = canvas.school.course(parts[0]!);
  if (course === undefined) throw notFound();
  return course;
}

function assignmentOf(call: Call): Assignment {
  const assignment = call.canvas.school.assignment(courseOf(call), call.parts[1]!);
  if (assignment === undefined) throw notFound();
  return assignment;
}

/**
 * @throws {CanvasRefusal} 404 if the assignment does not exist; the status of a missing permission if it is not
 *   published
 */
function published(call: Call, course: Course, reference: string): Assignment {
  const assignment = call.canvas.school.assignment(course, reference);
  if (assignment === undefined) throw notFound();
  if (!assignment.published) throw unauthorized(call);
  return assignment;
}

function submissionOf(call: Call): Submission {
  const assignment = assignmentOf(call);
  if (!call.mayRead) throw unauthorized(call);
  return call.canvas.school.submission(assignment, studentOf(call, call.parts[2]!).id);
}

function studentOf(call: Call, reference: string): CanvasUser {
  const user = call.canvas.school.user(reference);
  if (user === undefined || !courseOf(call).students.includes(user.id)) throw notFound();
  return user;
}

function mustGrade(call: Call): void {
  if (!call.mayGrade) throw unauthorized(call);
}

function unauthorized({ canvas }: Call): CanvasRefusal {
  return new CanvasRefusal(canvas.unauthorizedStatus, 'user not authorized to perform that action', 'unauthorized');
}

function ok(json: unknown): DoubleAnswer {
  return { status: 200, json };
}

/** Resources as Canvas returns them, with the fields that grading needs. */
function assignmentJson(course: Course, assignment: Assignment): Record<string, unknown> {
  return {
    id: assignment.id,
    course_id: course.id,
    name: assignment.name,
    points_possible: assignment.pointsPossible,
    grading_type: assignment.gradingType,
    published: assignment.published,
    workflow_state: assignment.published ? 'published' : 'unpublished',
    sis_assignment_id: assignment.sisAssignmentId ?? null,
    post_manually: assignment.postManually ?? true,
  };
}

/** @param isPostedByHand whether a teacher must post grades; the double's grades are then never posted */
function submissionJson(submission: Submission, isPostedByHand: boolean): Record<string, unknown> {
  const { id, assignmentId, userId, grade, score, graderId, gradedAtMs, excused } = submission;
  return {
    id,
    assignment_id: assignmentId,
    user_id: userId,
    grade,
    score,
    entered_grade: grade,
    entered_score: score,
    grader_id: graderId === 0 ? null : graderId,
    graded_at: gradedAtMs === undefined ? null : instant(gradedAtMs),
    posted_at: gradedAtMs === undefined || isPostedByHand ? null : instant(gradedAtMs),
    grade_matches_current_submission: true,
    excused,
    workflow_state: grade === null ? 'unsubmitted' : 'graded',
  };
}

function progressJson(progress: Progress, url: string): Record<string, unknown> {
  return {
    id: progress.id,
    context_id: progress.courseId,
    context_type: 'Course',
    user_id: null,
    tag: 'submissions_update',
    completion: progress.completion,
    workflow_state: progress.workflowState,
    created_at: instant(progress.createdAtMs),
    updated_at: instant(progress.updatedAtMs),
    message: progress.message,
    url: `${url}/api/v1/progress/${progress.id}`,
  };
}

/** Formats an instant as Canvas does, without fractions of a second. */
function instant(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
}
