import { callDouble, type Answered } from '../serve/call-double.test-kit.js';
import type { ServeOptions } from '../serve/serve-double.js';
import { canvasFaults, startCanvasDouble, type CanvasDouble } from './start-canvas-double.js';
import type { CanvasOptions } from './canvas-instance.js';

const SUBMISSIONS = '/api/v1/courses/42/assignments/7/submissions';
const started: CanvasDouble[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((double) => double.close()));
});

async function canvas(options: CanvasOptions & ServeOptions = {}): Promise<{
  double: CanvasDouble;
  call: (path: string, body?: unknown, method?: string) => Promise<Answered>;
  grade: (grades: Record<string, string>) => Promise<Answered>;
}> {
  const double = await startCanvasDouble(options);
  started.push(double);
  const call = (path: string, body?: unknown, method?: string): Promise<Answered> =>
    callDouble(`${double.url}${path}`, { token: 'canvas-token', body, ...(method !== undefined && { method }) });
  const grade = (grades: Record<string, string>): Promise<Answered> => {
    const gradeData = Object.entries(grades).map(([id, posted]) => [id, { posted_grade: posted }]);
    return call(`${SUBMISSIONS}/update_grades`, { grade_data: Object.fromEntries(gradeData) });
  };
  return { double, call, grade };
}

function gradeOf(double: CanvasDouble, userId: number): string | null {
  const [course] = double.canvas.school.courses;
  return double.canvas.school.submission(course!.assignments[0]!, userId).grade;
}

describe('grades of many students', () => {
  it('are written by a job that is queued, running and then completed', async () => {
    let nowMs = 1_000_000;
    const { double, call, grade } = await canvas({ queuedMs: 1000, runningMs: 1000, now: () => nowMs });
    const { status, json } = await grade({ '1001': '80', 'sis_user_id:S002': '90' });
    const seen = [json.workflow_state];
    for (let step = 0; step < 2; step += 1) {
      expect(gradeOf(double, 1001)).toBeNull();
      nowMs += 1000;
      seen.push((await call(new URL(json.url).pathname)).json.workflow_state);
    }
    expect([status, seen]).toEqual([200, ['queued', 'running', 'completed']]);
    expect([gradeOf(double, 1001), gradeOf(double, 1002)]).toEqual(['80', '90']);
  });

  it('are written for the students that are found; the job fails and names the others', async () => {
    const { double, call, grade } = await canvas();
    const { json } = await grade({ 'sis_user_id:S001': '80', 'sis_user_id:nobody': '90', '9999': '1' });
    const ended = (await call(`/api/v1/progress/${json.id}`)).json;
    expect([ended.workflow_state, ended.message]).toEqual([
      'failed',
      "Couldn't find User(s) with API ids '9999', 'sis_user_id:nobody'",
    ]);
    expect(gradeOf(double, 1001)).toBe('80');
  });

  it('are accepted as a form and as JSON', async () => {
    const { double, call } = await canvas();
    const body = new URLSearchParams({ 'grade_data[sis_user_id:S003][posted_grade]': '70%' });
    const answer = await fetch(`${double.url}${SUBMISSIONS}/update_grades`, {
      method: 'POST',
      headers: { authorization: 'Bearer canvas-token' },
      body,
    });
    await call(`/api/v1/progress/${((await answer.json()) as { id: number }).id}`);
    expect(gradeOf(double, 1003)).toBe('70');
  });

  it.each([
    ['no grade', `${SUBMISSIONS}/update_grades`, {}, 400],
    ['an unknown assignment', '/api/v1/courses/42/assignments/8/submissions/update_grades', undefined, 404],
    ['an unknown course', '/api/v1/courses/43/assignments/7/submissions/update_grades', undefined, 404],
  ])('are refused for %s', async (_name, path, gradeData, status) => {
    const { call } = await canvas();
    const answer = await call(path, { grade_data: gradeData ?? { '1001': { posted_grade: '1' } } });
    expect(answer.status).toBe(status);
  });

  it('are refused for an unpublished assignment with the status of a missing permission', async () => {
    const assignment = { id: 7, name: 'A', pointsPossible: 10, gradingType: 'points', published: false } as const;
    const course = { id: 42, name: 'C', students: [], assignments: [assignment] };
    const { grade } = await canvas({ school: { users: [], courses: [course] }, unauthorizedStatus: 401 });
    const answer = await grade({ '1001': '1' });
    expect([answer.status, answer.json.status]).toEqual([401, 'unauthorized']);
  });

  it('are written in part by a job that fails in the middle, and never by a stuck job', async () => {
    const { double, call, grade } = await canvas();
    double.canvas.jobs.addFaults({ kind: 'fails', afterStudents: 1 }, { kind: 'stuck' });
    const failed = (await grade({ '1001': '1', '1002': '2' })).json;
    const stuck = (await grade({ '1003': '3' })).json;
    expect((await call(`/api/v1/progress/${failed.id}`)).json.workflow_state).toBe('failed');
    expect((await call(`/api/v1/progress/${stuck.id}`)).json.workflow_state).toBe('running');
    expect([1001, 1002, 1003].map((id) => gradeOf(double, id))).toEqual(['1', null, null]);
  });
});

describe('parameters that grading does not need', () => {
  it.each([
    ['update_grades', { grade_data: { '1001': { posted_grade: '1' } }, notify: true }],
    ['update_grades', { grade_data: { '1001': { posted_grade: '1', text_comment: 'Ada' } } }],
    ['1001?include[]=user', undefined],
  ])('are refused: %s with %j', async (path, body) => {
    const { call } = await canvas();
    expect((await call(`${SUBMISSIONS}/${path}`, body)).status).toBe(400);
  });
});

describe('a submission', () => {
  it('shows the latest grade and its grader, a teacher or the API', async () => {
    const { double, call, grade } = await canvas();
    const [course] = double.canvas.school.courses;
    await grade({ '1001': '50' });
    expect((await call(`${SUBMISSIONS}/1001`)).json).toMatchObject({ grade: '50', grader_id: 1 });
    double.canvas.school.grade(course!.assignments[0]!, 1001, '75', 77);
    const { json } = await call(`${SUBMISSIONS}/sis_user_id:S001`);
    expect(json).toMatchObject({ user_id: 1001, grade: '75', score: 75, grader_id: 77, workflow_state: 'graded' });
    double.canvas.school.excuse(course!.assignments[0]!, 1001);
    expect((await call(`${SUBMISSIONS}/1001`)).json).toMatchObject({ grade: null, excused: true });
    await grade({ '1001': '80' });
    expect((await call(`${SUBMISSIONS}/1001`)).json).toMatchObject({ grade: '80', excused: false });
    await grade({ '1001': '' });
    expect((await call(`${SUBMISSIONS}/1001`)).json).toMatchObject({ grade: null, workflow_state: 'unsubmitted' });
  });
});

describe('a list', () => {
  it('is read page by page with the links', async () => {
    const { double, call } = await canvas();
    const [course] = double.canvas.school.courses;
    for (let n = 0; n < 23; n += 1) {
      double.canvas.school.addAssignment(course!, {
        name: `Another ${n}`,
        pointsPossible: 10,
        gradingType: 'points',
        published: true,
      });
    }
    const first = await call('/api/v1/courses/42/assignments?per_page=20');
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('Link') ?? '')?.[1];
    const second = await call(next!.slice(double.url.length));
    expect([first.json.length, second.json.length, second.headers.get('Link')]).toEqual([20, 4, null]);
  });
});

describe('the throttle', () => {
  it('answers 403 in plain text while the bucket is full', async () => {
    let nowMs = 1_000_000;
    const { call } = await canvas({ requestCost: 300, now: () => nowMs });
    const first = await call('/api/v1/users/self');
    await call('/api/v1/users/self');
    const refused = await call('/api/v1/users/self');
    nowMs += 1000;
    const later = await call('/api/v1/users/self');
    expect([first.headers.get('X-Request-Cost'), first.headers.get('X-Rate-Limit-Remaining')]).toEqual([
      '300',
      '300.0',
    ]);
    expect([refused.status, refused.text, refused.headers.get('X-Rate-Limit-Remaining')]).toEqual([
      403,
      '403 Forbidden (Rate Limit Exceeded)\n',
      '0.0',
    ]);
    expect(later.status).toBe(200);
  });
});

describe('a token', () => {
  it('is refused with 401 if it is missing or unknown', async () => {
    const { double } = await canvas();
    const missing = await callDouble(`${double.url}/api/v1/users/self`);
    const unknown = await callDouble(`${double.url}/api/v1/users/self`, { token: 'other' });
    expect([missing.status, missing.json.status]).toEqual([401, 'unauthenticated']);
    expect([unknown.status, unknown.json.errors[0].message]).toEqual([401, 'Invalid access token.']);
  });

  it('of a user without the right to grade can read the course but not grade', async () => {
    const { call, grade } = await canvas({ tokens: { 'canvas-token': { manageGrades: false } } });
    const refused = await grade({ '1001': '1' });
    const { json } = await call('/api/v1/courses/42/permissions?permissions[]=manage_grades');
    expect([(await call('/api/v1/courses/42/assignments/7')).status, json.manage_grades]).toEqual([200, false]);
    expect([refused.status, refused.json.errors[0].message]).toEqual([
      403,
      'user not authorized to perform that action',
    ]);
  });
});

describe('a reference', () => {
  it.each([
    [`${SUBMISSIONS}/sis_user_id:S001`, 200],
    [`${SUBMISSIONS}/sis_user_id%3AS001`, 200],
    [`${SUBMISSIONS}/1001`, 200],
    [`${SUBMISSIONS}/sis_user_id:nobody`, 404],
    ['/api/v1/courses/42/assignments/7', 200],
    ['/api/v1/courses/42/assignments/8', 404],
    ['/api/v1/courses/sis_course_id:nothing/assignments/7', 404],
    ['/api/v1/progress/1', 404],
  ])('%s is answered with %i', async (path, status) => {
    const { call } = await canvas();
    expect((await call(path)).status).toBe(status);
  });
});

describe('a fault', () => {
  it.each([
    ['rateLimit', 403, null],
    ['unavailable', 503, null],
    ['badGatewayAfter', 502, '80'],
  ])('%s answers %i and leaves the grade %s', async (name, status, left) => {
    const { double, call, grade } = await canvas();
    double.faults.add({ effect: canvasFaults[name]!, path: 'update_grades' });
    expect((await grade({ '1001': '80' })).status).toBe(status);
    await call('/api/v1/users/self');
    expect(gradeOf(double, 1001)).toBe(left);
  });
});
