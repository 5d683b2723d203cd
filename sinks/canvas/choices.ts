import type { Choices } from '../connect.js';
import { fieldsOf } from '../sink.js';
import type { CallBudget } from '../rest/rest-client.js';
import type { CanvasClient } from './client.js';

/** Canvas returns at most 100 courses in a page. */
const pageSize = 100;

/** Returns the courses in which the token's user teaches. Never throws. Source: Canvas, "List your courses". */
export async function listCourses(client: CanvasClient, budget: CallBudget): Promise<Choices> {
  const reply = await client.get(`/courses?enrollment_type=teacher&per_page=${pageSize}`, budget);
  if (reply.kind !== 'ok') {
    return { kind: 'refused', detail: `${client.host} does not list the courses of the token's user` };
  }
  const items = reply.list.map(fieldsOf).map(({ id, name, course_code: code }) => ({
    value: String(id),
    label: String(name ?? id),
    ...(typeof code === 'string' && code !== name ? { note: code } : {}),
  }));
  return { kind: 'offered', items, more: items.length === pageSize };
}
