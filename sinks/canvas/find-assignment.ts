import { fieldsOf, type Fields } from '../sink.js';
import type { Reply } from './classify.js';
import type { CanvasClient } from './client.js';
import type { CallBudget } from '../rest/rest-client.js';
import { type Scale, namePrefix, pathPart } from './grade-rules.js';
import type { CreateKeys } from './config.js';

/** An assignment in Canvas. Source: Canvas LMS, "Assignments", Assignment object. */
export interface Assignment extends Scale {
  /** The assignment's path in the API, which starts with `/courses`. */
  readonly path: string;
  readonly isPublished: boolean;
  /** Whether grades stay hidden until a teacher posts them (`post_manually`). */
  readonly isPostedByHand: boolean;
}

export type FoundAssignment =
  | { readonly kind: 'found'; readonly assignment: Assignment }
  /** The course exists, but none of its assignments has this name. */
  | { readonly kind: 'missing' }
  | Exclude<Reply, { kind: 'ok' }>;

export interface Target {
  readonly course: string;
  readonly assignment: string;
}

/**
 * The assignments that are being created, by course and name. Lanes that need the same assignment wait for the same
 * creation.
 */
export type Creations = Map<string, Promise<FoundAssignment>>;

/** Canvas' maximum page size. Source: Canvas LMS, "Pagination". */
const PAGE_SIZE = 100;
/**
 * Maximum number of pages. No course has this many assignments with similar names; the limit guards against an endless
 * list.
 */
const MAX_PAGES = 50;
const tooManySimilar = {
  kind: 'failed',
  processed: 'no',
  result: {
    kind: 'rejected',
    cause: 'too-many-assignments',
    detail: `Canvas lists more than ${MAX_PAGES * PAGE_SIZE} assignments whose names contain this one: name the assignment by its id`,
  },
} as const;

/**
 * Finds an assignment by its id, or by `name:` and its whole name. If several assignments have the name, the oldest is
 * used, so that every attempt and every process finds the same one.
 */
export async function findAssignment(
  client: CanvasClient,
  target: Target,
  budget: CallBudget,
): Promise<FoundAssignment> {
  const course = `/courses/${pathPart(target.course)}`;
  if (!target.assignment.startsWith(namePrefix)) {
    const path = `${course}/assignments/${pathPart(target.assignment)}`;
    return foundIn(path, await client.get(path, budget));
  }
  const name = target.assignment.slice(namePrefix.length);
  const similar: unknown[] = [];
  for (let page = 1, isLast = false; !isLast; page += 1) {
    if (page > MAX_PAGES) return tooManySimilar;
    const query = new URLSearchParams({ search_term: name, per_page: String(PAGE_SIZE), page: String(page) });
    const reply = await client.get(`${course}/assignments?${query.toString()}`, budget);
    if (reply.kind !== 'ok') return reply;
    similar.push(...reply.list);
    isLast = reply.list.length < PAGE_SIZE;
  }
  const [oldest] = similar
    .map(fieldsOf)
    .filter((each) => each['name'] === name && typeof each['id'] === 'number')
    .toSorted((one, other) => Number(one['id']) - Number(other['id']));
  if (oldest === undefined) return { kind: 'missing' };
  return { kind: 'found', assignment: assignmentOf(`${course}/assignments/${String(oldest['id'])}`, oldest) };
}

/**
 * Finds an assignment by its name, or creates it. The new assignment is published and accepts grades without
 * submissions. Each attempt searches before it creates, so that there is no second assignment if the answer to a
 * creation was lost.
 */
export async function findOrCreate(
  client: CanvasClient,
  target: Target,
  { creation, creations }: { readonly creation: CreateKeys; readonly creations: Creations },
  budget: CallBudget,
): Promise<FoundAssignment> {
  const key = JSON.stringify([target.course, target.assignment]);
  const pending = creations.get(key);
  if (pending !== undefined) return await pending;
  const made = create(client, target, creation, budget).finally(() => creations.delete(key));
  creations.set(key, made);
  return await made;
}

/** Returns the body that creates an assignment. @param reference `name:` and its whole name */
export function newAssignment(reference: string, { points }: CreateKeys): object {
  return {
    assignment: {
      name: reference.slice(namePrefix.length),
      points_possible: points,
      grading_type: 'points',
      submission_types: ['none'],
      published: true,
    },
  };
}

async function create(
  client: CanvasClient,
  target: Target,
  keys: CreateKeys,
  budget: CallBudget,
): Promise<FoundAssignment> {
  const found = await findAssignment(client, target, budget);
  if (found.kind !== 'missing') return found;
  const path = `/courses/${pathPart(target.course)}/assignments`;
  const reply = await client.post(path, newAssignment(target.assignment, keys), budget);
  if (reply.kind === 'ok') {
    const { id } = reply.body;
    if (typeof id === 'number' || (typeof id === 'string' && id !== '')) return foundIn(`${path}/${id}`, reply);
    const detail = `${client.host} created an assignment but did not return its id: correct "baseUrl"`;
    return { kind: 'failed', processed: 'maybe', result: { kind: 'retry', detail } };
  }
  return reply; // the assignment may have been created; the next attempt searches for it first
}

function foundIn(path: string, reply: Reply): FoundAssignment {
  return reply.kind === 'ok' ? { kind: 'found', assignment: assignmentOf(path, reply.body) } : reply;
}

function assignmentOf(path: string, found: Fields): Assignment {
  const points = found['points_possible'];
  return {
    path,
    points: typeof points === 'number' ? points : null,
    isPercent: found['grading_type'] === 'percent',
    isPublished: found['published'] !== false,
    isPostedByHand: found['post_manually'] === true,
  };
}
