export interface CanvasUser {
  readonly id: number;
  readonly name: string;
  readonly sisUserId?: string;
  readonly loginId?: string;
}

export interface Assignment {
  readonly id: number;
  readonly name: string;
  readonly pointsPossible: number;
  readonly gradingType: GradingType;
  readonly published: boolean;
  readonly sisAssignmentId?: string;
  /** Hides grades until a teacher posts them. The default, as in a new account. */
  readonly postManually?: boolean;
}

export interface Course {
  readonly id: number;
  readonly name: string;
  readonly sisCourseId?: string;
  /** Ids of the students whose enrolment is active. */
  readonly students: readonly number[];
  readonly assignments: readonly Assignment[];
}

export interface Submission extends Grade {
  readonly id: number;
  readonly assignmentId: number;
  readonly userId: number;
  /** 0 if the submission is not graded. */
  readonly graderId: number;
  readonly gradedAtMs: number | undefined;
  readonly excused: boolean;
}

/** Content of a school. After setup, only grades change. */
export interface SchoolPlan {
  readonly users: readonly CanvasUser[];
  readonly courses: readonly Course[];
}

/** The school in the configuration example: course 42, assignment 7 and 24 students. */
export function exampleSchool(): SchoolPlan {
  const users = Array.from({ length: 24 }, (_, index) => ({
    id: 1001 + index,
    name: `Student ${index + 1}`,
    sisUserId: `S${String(index + 1).padStart(3, '0')}`,
  }));
  const assignment = {
    id: 7,
    name: 'Engagement',
    pointsPossible: 100,
    gradingType: 'points',
    published: true,
  } as const;
  return {
    users,
    courses: [{ id: 42, name: 'Conference', students: users.map(({ id }) => id), assignments: [assignment] }],
  };
}

/** People, courses and grades of a school. A reference is an id or a prefixed id such as `sis_user_id:…`. */
export class School {
  readonly courses: readonly Course[];
  private readonly submissions = new Map<string, Submission>();
  private readonly created = new Map<number, Assignment[]>();
  private readonly enrolled = new Map<number, number[]>();

  constructor(
    private readonly plan: SchoolPlan,
    private readonly now: () => number,
  ) {
    this.courses = plan.courses.map((course) => {
      const assignments = [...course.assignments];
      const students = [...course.students];
      this.created.set(course.id, assignments);
      this.enrolled.set(course.id, students);
      return { ...course, assignments, students };
    });
  }

  /** Adds an assignment to a course. Names need not be unique, as in Canvas. */
  addAssignment(course: Course, assignment: Omit<Assignment, 'id'>): Assignment {
    const assignments = this.created.get(course.id)!;
    const added = { id: 1 + Math.max(1000, ...assignments.map(({ id }) => id)), ...assignment };
    assignments.push(added);
    return added;
  }

  /** Deletes an assignment as a teacher does. */
  removeAssignment(course: Course, assignmentId: number): void {
    const assignments = this.created.get(course.id)!;
    assignments.splice(
      assignments.findIndex(({ id }) => id === assignmentId),
      1,
    );
  }

  /** Removes a student from a course. */
  withdraw(course: Course, userId: number): void {
    const students = this.enrolled.get(course.id)!;
    students.splice(students.indexOf(userId), 1);
  }

  isPostedByHand(assignmentId: number): boolean {
    const assignment = this.courses.flatMap(({ assignments }) => assignments).find(({ id }) => id === assignmentId);
    return assignment?.postManually ?? true;
  }

  user(reference: string): CanvasUser | undefined {
    return this.plan.users.find(
      ({ id, sisUserId, loginId }) =>
        reference === String(id) ||
        (sisUserId !== undefined && reference === `sis_user_id:${sisUserId}`) ||
        (loginId !== undefined && reference === `sis_login_id:${loginId}`),
    );
  }

  course(reference: string): Course | undefined {
    return this.courses.find(
      ({ id, sisCourseId }) => reference === String(id) || reference === `sis_course_id:${sisCourseId}`,
    );
  }

  assignment(course: Course, reference: string): Assignment | undefined {
    return course.assignments.find(
      ({ id, sisAssignmentId }) => reference === String(id) || reference === `sis_assignment_id:${sisAssignmentId}`,
    );
  }

  /** Returns the submission of a student of the course, graded or not. */
  submission(assignment: Assignment, userId: number): Submission {
    return (
      this.submissions.get(`${assignment.id} ${userId}`) ?? {
        id: assignment.id * 1_000_000 + userId,
        assignmentId: assignment.id,
        userId,
        grade: null,
        score: null,
        graderId: 0,
        gradedAtMs: undefined,
        excused: false,
      }
    );
  }

  /** Stores a grade from the API or from a teacher. The last grade wins; the same grade changes nothing. */
  grade(assignment: Assignment, userId: number, posted: string, graderId: number): Submission {
    const before = this.submission(assignment, userId);
    const grade = parseGrade(posted, assignment.gradingType, assignment.pointsPossible);
    if (!before.excused && grade.grade === before.grade && grade.score === before.score) return before;
    const graded = {
      ...before,
      ...grade,
      excused: false,
      graderId,
      gradedAtMs: grade.grade === null ? undefined : this.now(),
    };
    this.submissions.set(`${assignment.id} ${userId}`, graded);
    return graded;
  }

  /** Excuses a student from an assignment, as a teacher does. */
  excuse(assignment: Assignment, userId: number): void {
    const none = { grade: null, score: null, gradedAtMs: undefined, excused: true };
    this.submissions.set(`${assignment.id} ${userId}`, { ...this.submission(assignment, userId), ...none });
  }

  graded(): readonly Submission[] {
    return [...this.submissions.values()];
  }
}

/** The grading types of assignments that the stand-in supports. */
export type GradingType = 'points' | 'percent' | 'pass_fail' | 'letter_grade';

/** A grade as displayed and its points; both null if there is no grade. */
interface Grade {
  readonly grade: string | null;
  readonly score: number | null;
}

const PASSES = new Set(['pass', 'complete']);
const FAILS = new Set(['fail', 'incomplete']);

/** Canvas's default grading scheme: each letter with the minimum share of the points. */
const LETTERS: readonly (readonly [letter: string, from: number])[] = [
  ['A', 94],
  ['A-', 90],
  ['B+', 87],
  ['B', 84],
  ['B-', 80],
  ['C+', 77],
  ['C', 74],
  ['C-', 70],
  ['D+', 67],
  ['D', 64],
  ['D-', 61],
  ['F', 0],
];

/**
 * Parses a `posted_grade`. Documented, "Grade or comment on a submission": a number is points, a number with `%` is a
 * percentage of the possible points, `pass` and `complete` are all points, `fail` and `incomplete` are none. Points may
 * exceed the maximum. A letter counts in an assignment that is graded in letters. The best letter is worth all points.
 * Any other letter is worth one percentage point less than the minimum of the letter above it
 * (app/models/grading_standard.rb). An empty string removes the grade; any other value is assumed to do the same.
 */
export function parseGrade(posted: string, gradingType: GradingType, pointsPossible: number): Grade {
  const value = posted.trim().toLowerCase();
  if (PASSES.has(value)) return shown(pointsPossible, gradingType, pointsPossible);
  if (FAILS.has(value)) return shown(0, gradingType, pointsPossible);
  const at = gradingType === 'letter_grade' ? LETTERS.findIndex(([letter]) => letter.toLowerCase() === value) : -1;
  if (at !== -1) {
    const percent = at === 0 ? 100 : LETTERS[at - 1]![1] - 1;
    return shown((percent / 100) * pointsPossible, gradingType, pointsPossible);
  }
  if (!/^-?(\d+\.?\d*|\.\d+)%?$/.test(value)) return { grade: null, score: null };
  const number = Number.parseFloat(value);
  // A bare number is a percentage if the assignment is graded in percent.
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
    case 'letter_grade': {
      const share = pointsPossible === 0 ? 0 : (rounded / pointsPossible) * 100;
      return { grade: LETTERS.find(([, from]) => share >= from)?.[0] ?? 'F', score: rounded };
    }
    default:
      return { grade: rounded > 0 ? 'complete' : 'incomplete', score: rounded };
  }
}
