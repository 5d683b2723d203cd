import { z } from '@hono/zod-openapi';

/**
 * A text that a request names something by. Control characters name nothing, and PostgreSQL refuses one of them (U+0000)
 * with an error; what is too long would fill the store, or the page of whoever looks.
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

/** What an item's key can be. */
export const itemKey = () => printable(200);

/** A list, also one that this version does not know: that is answered with what it does. */
export const listName = () => z.string().regex(/^[A-Za-z_-]{1,40}$/, { error: 'write the name of a list' });

/** `WORKSPACE/ID`. */
export const pigeonholeName = () =>
  z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}\/[0-9]{1,15}$/, { error: 'write WORKSPACE/ID' })
    .describe('WORKSPACE/ID.');

/** An id as the service gives them, in a path or a query. */
export const idText = () => z.string().regex(/^[0-9]{1,15}$/, { error: 'write an id such as 101' });
