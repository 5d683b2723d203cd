import { parseGrade, type GradingType } from './school.js';

describe('a posted grade', () => {
  it.each<[string, GradingType, string | null, number | null]>([
    ['13.5', 'points', '13.5', 13.5],
    ['60', 'points', '60', 60],
    ['40%', 'points', '20', 20],
    ['40', 'percent', '40%', 20],
    ['120%', 'percent', '120%', 60],
    ['pass', 'pass_fail', 'complete', 50],
    ['incomplete', 'pass_fail', 'incomplete', 0],
    ['complete', 'points', '50', 50],
    ['33.333333', 'points', '33.33', 33.33],
    ['A', 'letter_grade', 'A', 50],
    ['a-', 'letter_grade', 'A-', 46.5],
    ['F', 'letter_grade', 'F', 30],
    ['45', 'letter_grade', 'A-', 45],
    ['A-', 'points', null, null],
    ['', 'points', null, null],
    ['NaN', 'points', null, null],
    ['very good', 'points', null, null],
  ])('"%s" of %s is %s, %s points of 50', (posted, gradingType, grade, score) => {
    expect(parseGrade(posted, gradingType, 50)).toEqual({ grade, score });
  });
});
