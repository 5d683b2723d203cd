import { shownAddress } from '../network/shown-address.js';
import type { PreviewedCall } from '../sink.js';
import { newAssignment } from './find-assignment.js';
import { namePrefix, pathPart } from './grade-rules.js';
import type { GradeStep } from './plan.js';

/** Returns the calls of a grade: it finds the assignment, reads the student's submission, and starts a job. Pure. */
export function previewOf({ course, assignment, user, grade, create }: GradeStep, baseUrl: string): PreviewedCall[] {
  const assignments = `${shownAddress(baseUrl).replace(/\/$/, '')}/api/v1/courses/${pathPart(course)}/assignments`;
  const get = (address: string): PreviewedCall => ({ method: 'GET', address, body: null });
  const isNamed = assignment.startsWith(namePrefix);
  const name = assignment.slice(namePrefix.length);
  const place = `${assignments}/${isNamed ? '{id}' : pathPart(assignment)}`;
  return [
    get(isNamed ? `${assignments}?${new URLSearchParams({ search_term: name }).toString()}` : place),
    ...(create === undefined
      ? []
      : [{ method: 'POST', address: assignments, body: newAssignment(assignment, create) }]),
    get(`${place}/submissions/${pathPart(user)}`),
    {
      method: 'POST',
      address: `${place}/submissions/update_grades`,
      body: { grade_data: { '{id}': { posted_grade: grade } } },
    },
  ];
}
