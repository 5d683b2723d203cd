import { z } from '@hono/zod-openapi';
import { cadenceReasons } from '../reading/cadence.js';
import { cadenceWords, type Freshness, type FreshnessSummary, lateWords } from './freshness.js';
import { instant } from '../base/printable.js';

/** The interval in force of a list or of several, with its reason. */
export const cadenceShape = {
  reason: z.enum(cadenceReasons).nullable().describe('What decided the interval; null: not read yet.'),
  everyMs: z.int().nullable().describe('The polling interval in force, in milliseconds; null: not read yet.'),
  cadence: z.string().describe('Interval and reason as a phrase: "every 5 s: the event is live".'),
};

/** Freshness of one pigeonhole, or of several together. */
export const freshnessSummary = {
  state: z
    .enum(['current', 'late', 'paused', 'unread'])
    .describe('`late`: a list missed the interval in force for it; `unread`: no list was read yet.'),
  liveLists: z.int().describe('Lists that are live now.'),
  readAt: instant()
    .nullable()
    .describe(
      'The end of the oldest last read of the live lists, or of all that are not rarely read on purpose; null: none was read.',
    ),
  nextAt: instant().nullable().describe('The next read of one of the same lists; null: reading is paused.'),
  lateLists: z.int(),
  lateSeconds: z.number().describe('How long the latest list has been due; 0: none is late.'),
};

export const freshnessSchema = z
  .object({
    ...freshnessSummary,
    late: z
      .string()
      .nullable()
      .describe('The lists that are late: the latest one with its interval, and how many more; null: none is late.'),
    groups: z
      .array(
        z.object({
          ...cadenceShape,
          lists: z.int(),
          longestEveryMs: z.int().nullable().describe('Longest interval, if the lists of a reason have several.'),
          readAt: instant().nullable().describe('When the list that was read longest ago was last read.'),
          nextAt: instant().describe('When one of them is read next.'),
        }),
      )
      .readonly()
      .describe('All lists, by the reason for their interval.'),
  })
  .openapi('Freshness');
export type { FreshnessSummary };
export type FreshnessView = z.infer<typeof freshnessSchema>;

export function viewFreshness(freshness: Freshness): FreshnessView {
  const { state, liveLists, readAt, nextAt, late, groups } = freshness;
  return {
    state,
    liveLists,
    readAt: readAt?.toISOString() ?? null,
    nextAt: nextAt?.toISOString() ?? null,
    lateLists: late.length,
    lateSeconds: (late[0]?.lateMs ?? 0) / 1000,
    late: lateWords(freshness),
    groups: groups.map(({ reason, lists, everyMs, longestEveryMs, ...group }) => ({
      reason,
      lists,
      everyMs,
      longestEveryMs,
      cadence: cadenceWords({ reason, everyMs, longestEveryMs, wantedMs: group.wantedMs }),
      readAt: group.readAt?.toISOString() ?? null,
      nextAt: group.nextAt.toISOString(),
    })),
  };
}
