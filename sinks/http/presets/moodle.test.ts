import {
  type MoodleDouble,
  type MoodleOptions,
  startMoodleDouble,
} from '../../../sandbox/moodle/start-moodle-double.js';
import { engagement, GuideSink, kinds } from '../guide.test-kit.js';
import type { Subject } from '../../sink.js';

let moodle: MoodleDouble;
let grades: GuideSink;

beforeEach(async () => {
  moodle = await startMoodleDouble();
  grades = await open(moodle.token);
});
afterEach(async () => {
  await grades.close();
  await moodle.close();
});

const open = (token: string, url = moodle.url) =>
  GuideSink.open({
    page: 'moodle',
    replace: { 'https://moodle.example.com': url },
    variables: { MOODLE_TOKEN: token },
  });

const credit = (name: string, answered: number, around: Partial<Subject> = {}): Subject =>
  engagement(
    name,
    { scope: 'pigeonhole', answered, offered: 4 },
    { attendee: { Email: `${name}@Example.com ` }, ...around },
  );

describe('docs/sinks/http/moodle.md', () => {
  it('grades students by their e-mail address, and leaves other grades unchanged', async () => {
    expect(kinds(await grades.deliver([credit('ann', 3), credit('ben', 4)]))).toEqual(['delivered', 'delivered']);
    expect([...moodle.grades]).toEqual([
      [12, 100],
      [13, 60],
      [11, 75],
    ]);
  });

  it.each<[string, MoodleOptions]>([
    ['the user of the token may not see identity fields', { seesIdentity: false }],
    ['the site does not list e-mail addresses as an identity field', { identityFields: ['idnumber'] }],
  ])('finds no student by e-mail if %s, and names the capability', async (_, options) => {
    const site = await startMoodleDouble(options);
    const sink = await open(site.token, site.url);
    expect(await sink.deliver([credit('ann', 3)])).toMatchObject([
      { kind: 'rejected', cause: 'student-not-found', detail: expect.stringContaining('moodle/site:viewuseridentity') },
    ]);
    await sink.close();
    await site.close();
  });

  it('looks a student up once, and sends a grade again only if it changes', async () => {
    await grades.deliver([credit('ann', 3)]);
    expect(moodle.requests).toHaveLength(2);
    expect(await grades.deliver([credit('ann', 3)])).toEqual([{ kind: 'nothing', reason: 'unchanged' }]);
    await grades.deliver([credit('ann', 4)]);
    expect(moodle.requests).toHaveLength(3);
    expect(moodle.grades.get(11)).toBe(100);
  });

  it('rejects a person whom Moodle does not know or knows twice, and grades the others', async () => {
    expect(await grades.deliver([credit('nobody', 3), credit('shared', 3), credit('ann', 3)])).toMatchObject([
      { kind: 'rejected', cause: 'student-not-found' },
      { kind: 'rejected', cause: 'several-students' },
      { kind: 'delivered' },
    ]);
    expect(moodle.grades.get(13)).toBe(60);
  });

  it('recognizes errors in responses with HTTP 200', async () => {
    moodle.lockGradeItem();
    expect(await grades.deliver([credit('ann', 3)])).toMatchObject([{ kind: 'rejected', cause: 'grade-update-4' }]);
    const refusal = (errorcode: string) =>
      ({
        path: 'server.php',
        bodyHas: 'update_grades',
        effect: { kind: 'answer', answer: { status: 200, json: { exception: 'x', errorcode, message: 'Ann Ray' } } },
      }) as const;
    moodle.faults.add(refusal('invalidcoursemodule'), refusal('sitemaintenance'), refusal('accessexception'));
    expect(await grades.deliver([credit('ann', 3)])).toMatchObject([
      { kind: 'rejected', cause: 'invalidcoursemodule' },
    ]);
    expect(await grades.deliver([credit('ann', 3)])).toMatchObject([{ kind: 'retry', afterMs: 60_000 }]);
    expect(await grades.deliver([credit('ann', 3)])).toMatchObject([{ kind: 'pause', cause: 'credential' }]);
    expect(moodle.grades.has(11)).toBe(false);
  });

  it('leaves the removal of an erased person’s grade to an operator', async () => {
    await grades.deliver([credit('ann', 3)]);
    const gone = engagement('ann', null, { removal: 'erased', attendee: null });
    expect(await grades.deliver([gone])).toMatchObject([{ kind: 'unplannable', cause: 'cannot-forget' }]);
    expect(await grades.deliver([engagement('ann', null)])).toMatchObject([{ kind: 'nothing' }]);
  });

  it('checks the token, and shows neither the token nor a student', async () => {
    expect((await grades.check())[0]).toMatchObject({ ok: true });
    const other = await open('another-t0ken');
    const [line] = await other.check();
    const found = [line, ...(await other.deliver([credit('ann', 3)]))];
    await other.close();
    expect(found).toMatchObject([{ ok: false }, { kind: 'pause' }]);
    expect(JSON.stringify(found)).not.toMatch(/another-t0ken|ann@|Ann/);
  });
});
