import { fieldsOf } from '../fields-of.js';
import type { Asking, CanvasClient, Reply } from './client.js';
import type { Submission } from './grade-rules.js';
import { pathPart } from './grade-value.js';

export type Found = { readonly kind: 'found'; readonly submission: Submission } | Exclude<Reply, { kind: 'ok' }>;

/**
 * What stands in Canvas for one student, asked for by whatever names them. One by one: in a list, a student whom this
 * user may not see makes Canvas refuse all of it.
 */
export async function readSubmission(
  client: CanvasClient,
  { path, user }: { readonly path: string; readonly user: string },
  asking: Asking,
): Promise<Found> {
  const reply = await client.get(`${path}/submissions/${pathPart(user)}`, asking);
  if (reply.kind !== 'ok') return reply;
  const submission = submissionOf(reply.body);
  if (submission !== undefined) return { kind: 'found', submission };
  const detail = `${client.host} answers a submission without a student: correct "baseUrl"`;
  return { kind: 'failed', result: { kind: 'retry', detail }, processed: 'no' };
}

/** Source: Canvas LMS, "Submissions": what was entered stands beside what deductions for lateness made of it. */
function submissionOf(found: unknown): Submission | undefined {
  const body = fieldsOf(found);
  const userId = body['user_id'];
  if (typeof userId !== 'number' || !Number.isSafeInteger(userId)) return undefined;
  const grade = body['entered_grade'] ?? body['grade'];
  const score = body['entered_score'] ?? body['score'];
  const gradedAt = body['graded_at'];
  return {
    userId,
    grade: typeof grade === 'string' || typeof grade === 'number' ? String(grade) : null,
    score: typeof score === 'number' ? score : null,
    gradedAt: typeof gradedAt === 'string' ? gradedAt : null,
    excused: body['excused'] === true,
    isHidden: typeof gradedAt === 'string' && body['posted_at'] === null,
  };
}
