/** The grading types of assignments that the stand-in supports. */
export type GradingType = 'points' | 'percent' | 'pass_fail';

/** A grade as shown, and its points; both null where there is none. */
export interface Grade {
  readonly grade: string | null;
  readonly score: number | null;
}

const PASSES = new Set(['pass', 'complete']);
const FAILS = new Set(['fail', 'incomplete']);

/**
 * What a `posted_grade` means. Documented, "Grade or comment on a submission": points as a number, a percentage of the
 * possible points with `%`, pass or complete for all points, fail or incomplete for none; more than all is allowed. An
 * empty text takes the grade away, and so (assumed) does one that is none of these.
 */
export function parseGrade(posted: string, gradingType: GradingType, pointsPossible: number): Grade {
  const value = posted.trim().toLowerCase();
  if (PASSES.has(value)) return shown(pointsPossible, gradingType, pointsPossible);
  if (FAILS.has(value)) return shown(0, gradingType, pointsPossible);
  if (!/^-?(\d+\.?\d*|\.\d+)%?$/.test(value)) return { grade: null, score: null };
  const number = Number.parseFloat(value);
  // A bare number is a percentage where the assignment is graded so.
  const isShare = value.endsWith('%') || gradingType === 'percent';
  return shown(isShare ? (number / 100) * pointsPossible : number, gradingType, pointsPossible);
}

function shown(score: number, gradingType: GradingType, pointsPossible: number): Grade {
  const rounded = Math.round(score * 100) / 100;
  switch (gradingType) {
    case 'points':
      return { grade: String(rounded), score: rounded };
    case 'percent':
      return {
        grade: `${pointsPossible === 0 ? 0 : Math.round((rounded / pointsPossible) * 10_000) / 100}%`,
        score: rounded,
      };
    default:
      return { grade: rounded > 0 ? 'complete' : 'incomplete', score: rounded };
  }
}
