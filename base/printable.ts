import { z } from '@hono/zod-openapi';

/**
 * A text in a request, such as a name or a reason. Control characters are refused, because PostgreSQL cannot store
 * U+0000. The length is limited, because a long name would fill the store and the page.
 */
export function printable(longest: number) {
  return z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[^\u0000-\u001f\u007f]+$/, { error: 'control characters are not allowed' });
}

/** The name of a workspace, a sync or a sink. */
export const configuredName = () => printable(63);

/** The key of an item. */
export const itemKey = () => printable(200);

/** The name of a list. It may be unknown to this version: the route then answers with the names it knows. */
export const listName = () => z.string().regex(/^[A-Za-z_-]{1,40}$/, { error: 'write the name of a list' });

/** `WORKSPACE/ID`. */
export const pigeonholeName = () =>
  z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}\/[0-9]{1,15}$/, { error: 'write WORKSPACE/ID' })
    .describe('WORKSPACE/ID.');

/** An id of the service in a path or a query. */
export const idText = () => z.string().regex(/^[0-9]{1,15}$/, { error: 'write an id such as 101' });

export const instant = () => z.iso.datetime().describe('ISO 8601, UTC.');
