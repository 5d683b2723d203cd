import { decideGrade, isSet, stateHash, type Submission, gradeValue, pathPart, referenceValue } from './grade-rules.js';
import type { GradeStep } from './plan.js';

const found = (more: Partial<Submission> = {}): Submission => ({
  userId: 1,
  grade: null,
  score: null,
  gradedAt: null,
  excused: false,
  graderId: null,
  ...more,
});
const step = (more: Partial<GradeStep> = {}): GradeStep => ({
  course: '42',
  assignment: '7',
  user: '1',
  grade: '80',
  sent: 's',
  left: null,
  overwrite: false,
  ...more,
});
const graded = (score: number): Submission => found({ grade: String(score), score });
const leftAs = (submission: Submission) => ({ userId: submission.userId, state: stateHash(submission) });

describe('the decision about a grade', () => {
  it.each<[string, GradeStep, Submission, boolean, string]>([
    ['there is no grade', step(), found(), false, 'write'],
    ['Canvas has the grade', step(), graded(80), false, 'same'],
    ['Canvas has the grade, rounded', step({ grade: '66.67' }), graded(66.6667), false, 'same'],
    ['Canvas has the grade as a letter', step({ grade: 'a-' }), found({ grade: 'A-', score: 92 }), false, 'same'],
    ['Canvas has another grade', step(), graded(70), false, 'leave'],
    ['Canvas has another grade that this sink may have set', step(), graded(70), true, 'write'],
    ['Canvas has another grade that may be replaced', step({ overwrite: true }), graded(70), false, 'write'],
    ['the grade that this sink left is unchanged', step({ left: leftAs(graded(70)) }), graded(70), false, 'write'],
    ['the grade that this sink left has changed', step({ left: leftAs(graded(70)) }), graded(75), false, 'leave'],
    ['the grade that this sink left was cleared', step({ left: leftAs(graded(70)) }), found(), false, 'leave'],
    [
      'this sink left a grade for another student',
      step({ left: leftAs({ ...graded(70), userId: 2 }) }),
      found(),
      false,
      'write',
    ],
    ['the student is excused', step(), found({ excused: true }), false, 'leave'],
    ['the grade has to be removed and there is none', step({ grade: '' }), found(), false, 'same'],
    [
      'the grade has to be removed and is from this sink',
      step({ grade: '', left: leftAs(graded(70)) }),
      graded(70),
      false,
      'write',
    ],
    [
      'the grade has to be removed and is no longer from this sink',
      step({ grade: '', left: leftAs(graded(70)) }),
      graded(75),
      false,
      'leave',
    ],
  ])('is correct if %s', (_, planned, submission, started, expected) => {
    expect(decideGrade(planned, submission, started)).toBe(expected);
  });
});

describe('a grade counts as set', () => {
  it.each<[string, string, Submission, boolean]>([
    ['if Canvas has it', '80', graded(80), true],
    ['if Canvas has just converted it', 'A-', found({ grade: '92', score: 92, gradedAt: 'now' }), true],
    ['only if it was graded since', 'A-', found({ grade: '70', score: 70, gradedAt: 'before' }), false],
    ['only if a removed grade is gone', '', { ...graded(70), gradedAt: 'now' }, false],
  ])('%s', (_, grade, after, taken) => expect(isSet(grade, { gradedAt: 'before' }, after)).toBe(taken));
});

describe('a percentage', () => {
  it.each([
    ['85%', 17, { points: 20, isPercent: false }, 'same'],
    ['33.33%', 6.67, { points: 20, isPercent: false }, 'same'],
    ['85%', 85, { points: 20, isPercent: false }, 'leave'],
    ['85', 17, { points: 20, isPercent: true }, 'same'],
    ['85', 85, { points: 20, isPercent: false }, 'same'],
    ['85%', 17, { points: null, isPercent: false }, 'leave'],
  ] as const)('%s with %d points in an assignment of %j: %s', (grade, score, scale, expected) => {
    expect(decideGrade(step({ grade }), graded(score), false, scale)).toBe(expected);
    expect(isSet(grade, { gradedAt: null }, graded(score), scale)).toBe(expected === 'same');
  });
});

describe('a value of a mapping', () => {
  it.each([
    [66.66666, '66.67'],
    [100, '100'],
    [0, '0'],
    [' 85% ', '85%'],
    ['', null],
    [null, null],
    [undefined, null],
  ])('%j becomes the grade %j', (value, grade) => expect(gradeValue(value, 'grades.records[0].grade')).toBe(grade));

  it.each([true, {}, [80], 'x'.repeat(101)])('%j is rejected as a grade', (value) => {
    expect(() => gradeValue(value, 'grades.records[0].grade')).toThrow('is not a grade');
  });

  it.each([
    [42, '42'],
    ['sis_user_id:A1', 'sis_user_id:A1'],
    ['sis_user_id:', null],
    [' ', null],
    [undefined, null],
  ])('%j becomes the id %j', (value, id) => expect(referenceValue(value, 'grades.records[0].user')).toBe(id));

  const wrongType = 'it must be a number, or a text of at most 255 characters';
  it.each([
    ['.', 'it consists only of dots'],
    [' .. ', 'it consists only of dots'],
    [true, wrongType],
    [{}, wrongType],
    ['x'.repeat(256), wrongType],
    ['half \ud83d', 'it contains half of a surrogate pair, which is not a character'],
  ])('%j is rejected as an id, and cannot change the path: %s', (value, why) => {
    expect(() => referenceValue(value, 'grades.records[0].user')).toThrow(
      `grades.records[0].user returned a value that is not an id: ${why}`,
    );
  });

  it.each([
    ['42', '42'],
    ['sis_user_id:A-1', 'sis_user_id:A-1'],
    ['sis_user_id:a.b/c', `hex:sis_user_id:${Buffer.from('a.b/c').toString('hex')}`],
    ['sis_login_id:é@x', `hex:sis_login_id:${Buffer.from('é@x').toString('hex')}`],
    ['a/../b', 'a%2F..%2Fb'],
  ])('%j is encoded in a path as %s', (reference, part) => expect(pathPart(reference)).toBe(part));
});
