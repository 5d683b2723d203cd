import type { z } from 'zod';
import type { ListName } from './lists.js';
import { itemShapes, type WireItem } from './wire-item.js';

/** An element that is not what the contract says. Never fatal for its page. */
export interface Irregular {
  /** Position in `Page.items`; null when the element is no object and therefore not among them. */
  readonly index: number | null;
  /** Field and expectation, without the value: `attendee.anonymous: expected boolean`. */
  readonly problem: string;
  /** True when the list's id is missing or unusable, so that the item cannot be told from others. */
  readonly lacksIdentity: boolean;
}

export interface CheckedItems {
  readonly items: WireItem[];
  readonly irregular: Irregular[];
}

/**
 * Checks the elements of a page and keeps every object as it came, the irregular ones included. The parsed copies that
 * the schemas make are dropped: they order known fields first, and an item is stored as the service wrote it.
 */
export function checkItems(list: ListName, data: readonly unknown[]): CheckedItems {
  const { schema, idWithin } = itemShapes[list];
  const items: WireItem[] = [];
  const irregular: Irregular[] = [];
  for (const element of data) {
    if (!isWireItem(element)) {
      irregular.push({ index: null, problem: 'the element is not an object', lacksIdentity: true });
      continue;
    }
    const checked = schema.safeParse(element);
    if (!checked.success) {
      irregular.push({
        index: items.length,
        problem: checked.error.issues.map(problemOf).join(', '),
        lacksIdentity: checked.error.issues.some((issue) => isIdentity(issue.path, idWithin)),
      });
    }
    items.push(element);
  }
  return { items, irregular };
}

function isWireItem(element: unknown): element is WireItem {
  return typeof element === 'object' && element !== null && !Array.isArray(element);
}

/** Paths name declared fields alone (the schemas let all others pass), so no profile field can stand in one. */
function problemOf(issue: z.core.$ZodIssue): string {
  return `${issue.path.join('.')}: ${issue.code === 'invalid_type' ? `expected ${issue.expected}` : issue.code}`;
}

/** The id itself, or the object that should hold it. */
function isIdentity(path: readonly PropertyKey[], idWithin: string | null): boolean {
  if (idWithin === null) return path.length === 1 && path[0] === 'id';
  return path[0] === idWithin && (path.length === 1 || path[1] === 'id');
}
