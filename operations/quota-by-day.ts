import { z } from '@hono/zod-openapi';
import { groupBy } from '../base/grouping.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { allNeeds } from '../reading/demand.js';
import { readQuotas } from '../requests/quota.js';
import { reserveOf } from '../requests/quota-rules.js';
import { adviseOnQuota, calendarDemand } from './calendar-demand.js';
import { plannedPigeonholes } from './ready/planned-pigeonholes.js';

/** Number of days that are shown whether or not an event takes place on them. */
const everyDayOf = 14;
/** Maximum number of days; later ones are left out. */
const maxDays = 60;

const dayOfQuotaSchema = z.object({
  day: z.iso.date().describe('Day in UTC, as the service counts requests.'),
  pigeonholes: z.int().describe('Number of pigeonholes that take place on this day.'),
  live: z.int().describe('Requests for live lists.'),
  idle: z.int().describe('Requests for other lists.'),
  sweep: z.int().describe('Requests for sweeps.'),
  requests: z.int().describe('All requests that reading needs.'),
  share: z.number().nullable().describe('`requests` as a share of `usable`; null: the quota is not known.'),
});

export const quotaByDaySchema = z
  .object({
    keys: z.array(
      z.object({
        workspaces: z.array(z.string()).describe('Workspaces that share the key, and therefore its quota.'),
        limit: z
          .int()
          .nullable()
          .describe('Requests a day, as the service last reported; null: it does not report it.'),
        usable: z.int().nullable().describe('The part that reading may use; the rest is reserved for imports.'),
        fits: z.boolean().nullable().describe('Whether the busiest day fits; null: not known.'),
        advice: z.string().nullable().describe('A sentence about the busiest day; null: no event takes place.'),
        days: z
          .array(dayOfQuotaSchema)
          .readonly()
          .describe(`The next ${everyDayOf} days, and later ones on which an event takes place.`),
      }),
    ),
  })
  .openapi('QuotaByDay');
export type QuotaByDay = z.infer<typeof quotaByDaySchema>;

/**
 * Returns the number of requests that reading will need on each day, for each key of the service. Uses the calendar in
 * the ledger, and makes no request.
 * @param options.workspace only the key of this workspace; null: all
 * @param options.now Unix time in ms
 */
export async function quotaByDay(
  { config, ledger }: { readonly config: Config; readonly ledger: Ledger },
  { workspace, now }: { readonly workspace: string | null; readonly now: number },
): Promise<QuotaByDay> {
  const keyOf = (name: string): string => ledger.hash.fingerprint(config.workspaces[name]!.apiKey.reveal());
  const sharing = [...groupBy(Object.keys(config.workspaces), keyOf)].filter(
    ([, names]) => workspace === null || names.includes(workspace),
  );
  const states = await readQuotas(
    ledger,
    sharing.map(([key]) => key),
  );
  const keys = await Promise.all(
    sharing.map(async ([key, workspaces]) => {
      const { pigeonholes, workspacePlans } = await plannedPigeonholes({ config, ledger }, workspaces);
      const limit = states.get(key)?.limit ?? null;
      const reserve = Math.max(...workspaces.map((name) => reserveOf(config, name)));
      const usable = limit === null ? null : Math.floor(limit * (1 - reserve));
      const days = calendarDemand(pigeonholes, workspacePlans, { fromMs: now, everyDayOf }).slice(0, maxDays);
      const [busiest] = days
        .filter((each) => each.pigeonholes > 0)
        .toSorted((a, b) => allNeeds(b.needs) - allNeeds(a.needs));
      const { fits, text } =
        limit === null || busiest === undefined
          ? { fits: null, text: null }
          : adviseOnQuota(busiest, { quota: limit, reserve }, pigeonholes, workspacePlans);
      return {
        workspaces: workspace === null ? workspaces : [workspace],
        limit,
        usable,
        fits,
        advice: text,
        days: days.map((each) => {
          const requests = Math.ceil(allNeeds(each.needs));
          return {
            day: each.day,
            pigeonholes: each.pigeonholes,
            live: Math.ceil(each.needs.live),
            idle: Math.ceil(each.needs.idle),
            sweep: Math.ceil(each.needs.sweep),
            requests,
            share: usable === null || usable === 0 ? null : requests / usable,
          };
        }),
      };
    }),
  );
  return { keys };
}
