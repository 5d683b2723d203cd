import type { Context, Hono, MiddlewareHandler } from 'hono';
import { z } from 'zod';
import type { Ledger } from '../ledger/ledger.js';
import { decideHold, heldItems, type Hold, openHolds } from '../ledger/queries/holds.js';

/** Deletions that wait for a person, as the API shows them. */
export interface HeldDeletions extends Omit<Hold, 'foundAt'> {
  readonly foundAt: string;
  /** The exact items; only when one hold was asked for. */
  readonly keys?: readonly string[];
}

export const decisionSchema = z.object({
  decision: z.enum(['confirmed', 'rejected']),
  /** How many items the person saw: when it is another number by now, nothing is done. */
  items: z.int().min(1),
});
export type Decision = z.infer<typeof decisionSchema>;

export interface DeletionSources {
  readonly ledger: Ledger;
  readonly wakeSinks: (names: readonly string[]) => Promise<void>;
}

type Problem = (status: number, title: string) => Response;

/** `GET /api/deletions`, `GET /api/deletions/:id` with its items, and `POST` of a decision to the latter. */
export function serveDeletions(
  app: Hono,
  { ledger, wakeSinks }: DeletionSources,
  { problem, bodies }: { problem: Problem; bodies: MiddlewareHandler },
): void {
  const find = async (c: Context): Promise<HeldDeletions | Response> => {
    const hold = (await openHolds(ledger)).find(({ id }) => String(id) === c.req.param('id'));
    return hold === undefined
      ? problem(404, `no deletions ${c.req.param('id')} wait; "pigeonpost deletions list" shows what does`)
      : view(hold);
  };
  app.get('/api/deletions', async (c) => c.json({ held: (await openHolds(ledger)).map(view) }));
  app.get('/api/deletions/:id', async (c) => {
    const hold = await find(c);
    return hold instanceof Response ? hold : c.json({ ...hold, keys: await heldItems(ledger, hold.id) });
  });
  app.post('/api/deletions/:id', bodies, async (c) => {
    const decision = decisionSchema.safeParse(await c.req.json().catch(() => undefined));
    if (!decision.success) return problem(400, 'a decision has "decision" (confirmed, rejected) and "items"');
    const hold = await find(c);
    if (hold instanceof Response) return hold;
    if (hold.items !== decision.data.items) {
      return problem(
        409,
        `${hold.items} items are missing now, not ${decision.data.items}: look again before you decide`,
      );
    }
    const done = await decideHold(ledger, hold.id, decision.data.decision);
    if (done === undefined) return problem(404, `deletions ${hold.id} have been decided about meanwhile`);
    await wakeSinks(done.woken);
    return c.json({ done: true, items: done.items });
  });
}

function view({ foundAt, ...hold }: Hold): HeldDeletions {
  return { ...hold, foundAt: foundAt.toISOString() };
}
