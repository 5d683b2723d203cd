import type { Hono } from 'hono';
import { z } from 'zod';
import { listNames } from '../config/schema/list-names.js';
import type { Ledger } from '../ledger/ledger.js';
import { seenFields, type SeenFields } from '../ledger/queries/seen-fields.js';

export type { SeenField, SeenFields } from '../ledger/queries/seen-fields.js';

/** Which fields are asked for: `<workspace>/<id>`, or an id alone for the pigeonholes of that id in all workspaces. */
export const fieldsQuerySchema = z.strictObject({
  list: z.enum(listNames),
  pigeonhole: z
    .string()
    .regex(/^(?:[a-z0-9-]{1,63}\/)?\d{1,15}$/)
    .optional(),
});
export type FieldsQuery = z.infer<typeof fieldsQuerySchema>;

/** `GET /api/fields?list=attendees&pigeonhole=acme/101`: names, kinds and counts; values of states alone. */
export function serveFields(
  app: Hono,
  { ledger }: { readonly ledger: Ledger },
  problem: (status: number, title: string) => Response,
): void {
  app.get('/api/fields', async (c) => {
    const query = fieldsQuerySchema.safeParse(c.req.query());
    if (!query.success) {
      return problem(
        400,
        'fields are asked for with "list", the name of one, and may have "pigeonhole" (WORKSPACE/ID)',
      );
    }
    const { list, pigeonhole } = query.data;
    const [id, workspace] = pigeonhole?.split('/').toReversed() ?? [];
    const pigeonholes: SeenFields[] = await seenFields(ledger, {
      list,
      workspace: workspace ?? null,
      pigeonholeId: id === undefined ? null : Number(id),
    });
    return c.json({ list, pigeonholes });
  });
}
