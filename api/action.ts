import { z } from 'zod';
import { serviceLists } from '../config/schema/list-names.js';

/** What a person asks of running work. */
export const actionSchema = z
  .strictObject({
    do: z.enum(['pause', 'resume', 'poll-now', 'sweep', 'approve']),
    kind: z.enum(['workspace', 'pigeonhole', 'sink']),
    /** A workspace's or a sink's name; for a pigeonhole `<workspace>/<id>`. */
    name: z.string().min(1).max(200),
    /** Of a sweep: this list alone. */
    list: z.enum(serviceLists).optional(),
    /** Who asks, as a person would be told. */
    by: z.string().min(1).max(200).optional(),
    /** Why; shown in the status. */
    reason: z.string().min(1).max(500).optional(),
  })
  .refine((action) => action.do !== 'approve' || action.kind === 'sink');
export type Action = z.infer<typeof actionSchema>;

/** `unknown`: nothing of that name is there. */
export type ActionResult = 'done' | 'unknown' | { readonly refused: string };
