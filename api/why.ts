import { z } from 'zod';
import { listNames } from '../config/schema/list-names.js';
import type { Ledger } from '../ledger/ledger.js';
import { findItems, type KnownItem, timelineOf } from '../ledger/queries/timeline.js';

/** What an item's key can be: more would reach the store as text that it refuses, or as pages of it. */
export const itemKeySchema = z
  .string()
  .min(1)
  .max(200)
  .regex(/^\P{C}+$/u);

/** Which item is asked about. */
export const whyQuerySchema = z.strictObject({
  list: z.enum(listNames),
  key: itemKeySchema,
  /** ID or WORKSPACE/ID; what is neither names none. */
  pigeonhole: itemKeySchema.optional(),
});

/** All that is known of one item, without its text: where it was read, what each sink was told, or why it was not. */
export interface Why {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly sessionId: number | null;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly deleted: boolean;
  /** Of interactions: may the person be shown? */
  readonly visibility: string | null;
  readonly consent: string | null;
  readonly lastChangedAt: string;
  /** Of its stream. */
  readonly polledAt: string | null;
  readonly sweptAt: string | null;
  readonly failure: string | null;
  readonly missingSince: string | null;
  readonly revisions: readonly WhyRevision[];
}

export interface WhyRevision {
  readonly revision: number;
  readonly kind: string;
  readonly foundAt: string;
  /** The page that showed it, and the service's request id; null: a consequence of another change, or of an absence. */
  readonly readAs: string | null;
  readonly requestId: string | null;
  readonly visibility: string | null;
  readonly sinks: readonly WhySink[];
}

export interface WhySink {
  readonly sink: string;
  /** `behind`: its lane has not come so far; `passed`: it was of no interest to it. */
  readonly state: string;
  readonly reason: string | null;
  /** What the destination answered, or what its lane waits for. */
  readonly detail: string | null;
  readonly attempts: number;
  readonly at: string | null;
  readonly dueAt: string | null;
  /** Sent with the person's identity. */
  readonly identity: boolean | null;
  /** Number of the configuration under which it was sent. */
  readonly configuration: number | null;
  readonly replay: string | null;
}

/** The items of this list and key: none, one, or one in each of several pigeonholes. */
export async function explain(
  ledger: Ledger,
  asked: { readonly list: string; readonly key: string; readonly pigeonhole: string | null },
): Promise<Why[]> {
  const items = await findItems(ledger, asked);
  return await Promise.all(items.map((item) => explainItem(ledger, asked, item)));
}

async function explainItem(
  ledger: Ledger,
  { list, key }: { list: string; key: string },
  item: KnownItem,
): Promise<Why> {
  const { changes, deliveries, lanes } = await timelineOf(ledger, item);
  const revisions = changes.map(({ sequence, foundAt, ...change }): WhyRevision => {
    const rows = deliveries.filter((delivery) => delivery.sequence === sequence);
    const told = rows.map(({ sequence: _, updatedAt, dueAt, ...row }): WhySink => ({
      ...row,
      at: updatedAt.toISOString(),
      dueAt: dueAt?.toISOString() ?? null,
    }));
    const untold = lanes
      .filter(({ sink }) => !rows.some((row) => row.sink === sink))
      .map(({ sink, watermark, failure }): WhySink => ({
        sink,
        state: watermark < sequence ? 'behind' : 'passed',
        reason: null,
        detail: watermark < sequence ? failure : null,
        attempts: 0,
        at: null,
        dueAt: null,
        identity: null,
        configuration: null,
        replay: null,
      }));
    return { ...change, foundAt: foundAt.toISOString(), sinks: [...told, ...untold] };
  });
  const { ref: _ref, lastSequence: _last, seenAt, polledAt, sweptAt, missingSince, ...known } = item;
  return {
    ...known,
    list,
    key,
    lastChangedAt: seenAt.toISOString(),
    polledAt: polledAt?.toISOString() ?? null,
    sweptAt: sweptAt?.toISOString() ?? null,
    missingSince: missingSince?.toISOString() ?? null,
    revisions,
  };
}
