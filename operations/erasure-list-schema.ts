import { z } from '@hono/zod-openapi';
import type { ErasureList } from '../people/erasure-list.js';
import { instant } from '../base/printable.js';

const hash = z.string().regex(/^(?:[0-9a-f]{2}){16,64}$/);

/** The exported list of erasures. `pigeonpost restore --erasures` accepts it as well. */
export const erasureListSchema = z
  .object({
    ledger: z.uuid().describe('The ledger whose keys made the hashes.'),
    erasures: z
      .array(
        z.object({
          id: z.uuid(),
          asked: hash,
          requestedAt: instant(),
          people: z.array(z.object({ workspace: z.string(), subject: hash })).readonly(),
          codes: z.array(z.object({ workspace: z.string(), pigeonholeId: z.int(), code: hash })).readonly(),
        }),
      )
      .readonly(),
  })
  .openapi('ErasureList') satisfies z.ZodType<ErasureList>;
