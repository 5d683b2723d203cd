import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type CanvasDouble, startCanvasDouble } from '../../sandbox/canvas/start-canvas-double.js';
import { DEFAULT_ACCOUNT, type LrsDouble, startLrsDouble } from '../../sandbox/lrs/start-lrs-double.js';
import { attendee, pollVote, session } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { type Stage, useStages } from '../kit/stage.js';

/*
 * Recipes of docs/ for an LMS, unchanged except for the addresses, against a Canvas and an LRS that hold records
 * already: a teacher's grades, and statements of another system about the same people.
 */

const stages = useStages();
const docs = join(__dirname, '../../docs');
const by = (id: number) => ({ id, anonymous: false });
const environment = {
  LRS_KEY: DEFAULT_ACCOUNT.username,
  LRS_SECRET: DEFAULT_ACCOUNT.password,
  CANVAS_TOKEN: 'canvas-token',
};
const foreign = {
  id: '11111111-1111-4111-8111-111111111111',
  actor: { objectType: 'Agent', account: { homePage: 'https://example.com', name: 'code-1' } },
  verb: { id: 'http://adlnet.gov/expapi/verbs/attended' },
  object: { objectType: 'Activity', id: 'https://example.com/workspaces/acme/pigeonholes/101' },
  timestamp: '2025-01-01T00:00:00Z',
};

let lrs: LrsDouble;
let canvas: CanvasDouble;
beforeEach(async () => {
  lrs = await startLrsDouble();
  lrs.store.add(foreign, { objectType: 'Agent' });
  const users = [1, 2, 3, 4].map((id) => ({ id: 1000 + id, name: `Student ${id}`, sisUserId: `code-${id}` }));
  const assignment = { id: 7, pointsPossible: 20, gradingType: 'points', published: true } as const;
  const assignments = [{ ...assignment, name: 'Engagement' }];
  const course = { id: 42, name: 'Course', students: users.map(({ id }) => id), assignments };
  canvas = await startCanvasDouble({ school: { users, courses: [course] } });
  grade(7, 2, '3');
});
afterEach(async () => {
  await Promise.all([lrs.close(), canvas.close()]);
});

/** Sets a grade as a teacher does. */
function grade(assignmentId: number, student: number, points: string): void {
  const { school } = canvas.canvas;
  school.grade(school.assignment(school.courses[0]!, String(assignmentId))!, 1000 + student, points, 77);
}

/** Returns the grades as `<assignment> <student> <points> <grader>`. */
const grades = (): string[] =>
  canvas.canvas.school
    .graded()
    .map(({ assignmentId, userId, score, graderId }) => `${assignmentId} ${userId - 1000} ${score} ${graderId}`)
    .toSorted();

/** Returns statements as actor and verb, without those of another system. */
const told = (): string[] =>
  lrs.store.all
    .filter(({ id }) => id !== foreign.id && lrs.store.voiderOf(id) === undefined)
    .map(({ actor, verb }) => `${(actor['account'] as { name: string }).name} ${String(verb['id']).split('/').at(-1)}`)
    .toSorted();

/** Returns the sinks of the first configuration on a page that contains this text. */
function sinksOf(page: string, having: string): Record<string, string> {
  const blocks = [...readFileSync(join(docs, page), 'utf8').matchAll(/^```yaml\n([^]*?)^```$/gm)].map(
    ([, text]) => text!,
  );
  const block = blocks.find((text) => text.includes(having))!;
  const { sinks } = parse(block) as { sinks: Record<string, object> };
  const text = (sink: object) =>
    JSON.stringify(sink)
      .replace('https://lrs.example.com/xapi', lrs.endpoint)
      .replace('https://canvas.example.com', canvas.url);
  return Object.fromEntries(Object.entries(sinks).map(([name, sink]) => [name, text(sink)]));
}

/** Returns the recipe for credit, changed to grades by participation with the keys from the text below it. */
function sinksByParticipation(): Record<string, string> {
  const page = readFileSync(join(docs, 'recipes.md'), 'utf8');
  const [, variant] = /^The grade can instead be [^]*?```text\n([^`]*)```/m.exec(page)!;
  const keys = parse(variant!) as object[];
  expect(keys.flatMap((key) => Object.keys(key))).toEqual(['from', 'when', 'user', 'grade']);
  const { grades: text } = sinksOf('recipes.md', 'type: canvas');
  const sink = JSON.parse(text!) as { records: object[] };
  return { grades: JSON.stringify({ ...sink, records: [Object.assign({}, ...sink.records, ...keys)] }) };
}

/** Adds two attendees with consent, of whom the first is most active, a no-show, and an attendee who refuses. */
async function people(stage: Stage): Promise<void> {
  await stage.put('sessions', session(1, { anonymousResponses: false }));
  await stage.put(
    'attendees',
    attendee(1),
    attendee(2),
    attendee(3, { signInTime: null }),
    attendee(4, { consent: { obtained: false } }),
  );
  const votes = [51, 52, 53].map((id) => pollVote(id, by(1), 1, { question: { id } }));
  await stage.put('poll-mcq-votes', ...votes, pollVote(54, by(2), 1, { question: { id: 51 } }));
}

describe.each(kinds)('a recipe for the LMS, on %s', (kind) => {
  it('gives credit once in both systems, without changing existing data, even if it runs twice', async () => {
    const stage = await stages.open(kind);
    await people(stage);
    const scene = await stage.scene({ sinks: sinksOf('recipes.md', 'type: canvas'), environment });
    await scene.settle();
    const { courses } = canvas.canvas.school;
    const [, made] = courses[0]!.assignments;
    expect(courses[0]!.assignments).toHaveLength(2);
    expect(made).toMatchObject({ pointsPossible: 100, published: true });
    const id = made!.id;
    expect(grades()).toEqual([`${id} 1 100 1`, `${id} 2 100 1`, '7 2 3 77']);
    expect(told()).toEqual(['code-1 attended', 'code-1 completed', 'code-2 attended']);
    expect(await stage.db.query(`select 1 from deliveries where state = 'dead'`)).toEqual([]);

    const before = lrs.store.all.length;
    grade(made!.id, 2, '50'); // a teacher sets another grade
    await stage.patch('attendees', 2, { Name: 'Bea' });
    await stage.pollsAreDue();
    await scene.settle();
    expect(grades()).toContain(`${id} 2 50 77`);
    expect(lrs.store.all.length).toBe(before);
    expect(lrs.store.sentAs(foreign.id)).toEqual(foreign);
  });

  it('grades by participation with the keys that the page names, without changing existing data', async () => {
    const stage = await stages.open(kind);
    await people(stage);
    const scene = await stage.scene({ sinks: sinksByParticipation(), environment });
    await scene.settle();
    const [, { id }] = canvas.canvas.school.courses[0]!.assignments as [unknown, { id: number }];
    expect(grades()).toEqual([`${id} 1 100 1`, `${id} 2 33 1`, '7 2 3 77']);

    grade(id, 1, '90'); // set by a teacher
    const more = [1, 2].map((who) => pollVote(60 + who, by(who), 1, { question: { id: 53 + who } }));
    await stage.put('poll-mcq-votes', ...more); // both answer one more of the five questions
    await stage.pollsAreDue();
    await scene.settle();
    expect(grades()).toEqual([`${id} 1 90 77`, `${id} 2 40 1`, '7 2 3 77']);
  });

  it('of the Canvas guide grades by percentage, and keeps the grades of a teacher', async () => {
    const stage = await stages.open(kind);
    await people(stage);
    const scene = await stage.scene({ sinks: sinksOf('sinks/canvas.md', 'type: canvas'), environment });
    await scene.settle();
    expect(grades()).toEqual(['7 1 20 1', '7 2 3 77']);
    expect(await stage.db.query(`select reason from deliveries where state = 'dead'`)).toEqual([
      { reason: 'graded-by-somebody-else' },
    ]);
  });

  it('of the xAPI guide records what people did, and voids no statements of other systems', async () => {
    const stage = await stages.open(kind);
    await people(stage);
    const scene = await stage.scene({ sinks: sinksOf('sinks/xapi.md', 'type: xapi'), environment });
    await scene.settle();
    expect(told()).toEqual([
      'code-1 answered',
      'code-1 answered',
      'code-1 answered',
      'code-1 attended',
      'code-1 completed',
      'code-2 answered',
      'code-2 attended',
    ]);
    expect(lrs.store.voiderOf(foreign.id)).toBeUndefined();
  });
});
