import type { Hono, MiddlewareHandler } from 'hono';
import { z } from 'zod';
import type { Ledger } from '../ledger/ledger.js';
import {
  type DeadLetter,
  type DeadLetterGroup,
  deadLetterGroups,
  deadLetters,
  redriveDeadLetters,
} from '../ledger/queries/dead-letters.js';

/** Changes that a sink refused for one cause, as the API shows them. */
export type DeadLetterGroupView = Omit<DeadLetterGroup, 'oldest' | 'newest'> & {
  readonly oldest: string;
  readonly newest: string;
};
export type DeadLetterView = Omit<DeadLetter, 'since'> & { readonly since: string };

/** Which dead letters: what is left out counts for all. */
export const deadLetterChoiceSchema = z.strictObject({
  sink: z.string().min(1).optional(),
  cause: z.string().min(1).optional(),
  list: z.string().min(1).optional(),
  key: z.string().min(1).optional(),
});
export type DeadLetterChoice = z.infer<typeof deadLetterChoiceSchema>;

/** How many single ones are shown at once. */
const mostShown = 1000;

interface DeadLetterSources {
  readonly ledger: Ledger;
  readonly wakeSinks: (names: readonly string[]) => Promise<void>;
}

/** `GET /api/dead-letters` by cause, `GET /api/dead-letters/items` one by one, `POST /api/dead-letters/redrive`. */
export function serveDeadLetters(
  app: Hono,
  { ledger, wakeSinks }: DeadLetterSources,
  { problem, bodies }: { problem: (status: number, title: string) => Response; bodies: MiddlewareHandler },
): void {
  const wrong = (): Response => problem(400, 'dead letters are chosen by "sink", "cause", "list" and "key"');
  app.get('/api/dead-letters', async (c) => {
    const choice = deadLetterChoiceSchema.safeParse(c.req.query());
    return choice.success ? c.json({ groups: (await deadLetterGroups(ledger, choice.data)).map(viewGroup) }) : wrong();
  });
  app.get('/api/dead-letters/items', async (c) => {
    const choice = deadLetterChoiceSchema.safeParse(c.req.query());
    if (!choice.success) return wrong();
    const found = await deadLetters(ledger, choice.data, mostShown + 1);
    return c.json({ items: found.slice(0, mostShown).map(viewOne), more: found.length > mostShown });
  });
  app.post('/api/dead-letters/redrive', bodies, async (c) => {
    const choice = deadLetterChoiceSchema.safeParse(await c.req.json().catch(() => undefined));
    if (!choice.success) return wrong();
    const { changes, woken } = await redriveDeadLetters(ledger, choice.data);
    await wakeSinks(woken);
    return c.json({ done: true, changes });
  });
}

function viewGroup({ oldest, newest, ...group }: DeadLetterGroup): DeadLetterGroupView {
  return { ...group, oldest: oldest.toISOString(), newest: newest.toISOString() };
}

function viewOne({ since, ...one }: DeadLetter): DeadLetterView {
  return { ...one, since: since.toISOString() };
}
