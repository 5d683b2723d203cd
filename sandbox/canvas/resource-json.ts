import type { Progress } from './grading-jobs.js';
import type { Assignment, Course, Submission } from './school.js';

/** Resources as Canvas returns them, with the fields that grading needs. */
export function assignmentJson(course: Course, assignment: Assignment): Record<string, unknown> {
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
export function submissionJson(submission: Submission, isPostedByHand: boolean): Record<string, unknown> {
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

export function progressJson(progress: Progress, url: string): Record<string, unknown> {
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

/** Without fractions of a second, as Canvas writes instants. */
function instant(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
}
