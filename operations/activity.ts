import { z } from '@hono/zod-openapi';
import { instant } from '../base/printable.js';
import { configurationsSince } from '../ledger/configurations.js';
import type { Ledger } from '../ledger/ledger.js';
import { startsSince } from '../ledger/starts.js';
import { timesOf } from './event/event-story.js';
import { type ActivityOf, type ChangesByStep, changesByStep } from '../reading/progress.js';
import { type IncidentScope, listIncidents } from './incidents/incident-store.js';

const minuteMs = 60_000;

/** The spans of a chart: their length, that of one step, and that of the steps by which the age of what waits is measured. */
export const spans = {
  '1h': { spanMs: 60 * minuteMs, stepMs: minuteMs, fineMs: minuteMs },
  '24h': { spanMs: 24 * 60 * minuteMs, stepMs: 10 * minuteMs, fineMs: minuteMs },
  '7d': { spanMs: 7 * 24 * 60 * minuteMs, stepMs: 60 * minuteMs, fineMs: 10 * minuteMs },
} as const;
export type Span = keyof typeof spans;
export const spanNames = Object.keys(spans) as [Span, ...Span[]];

export const activitySchema = z
  .object({
    stepSeconds: z.int().describe('Length of one step.'),
    from: instant().describe('Start of the first step.'),
    found: z.array(z.int()).describe('Changes found in each step, oldest first. The last step is the current one.'),
    delivered: z.array(z.int()).describe('Changes delivered in each step.'),
    waiting: z.array(z.int()).describe('Changes that were found and not settled at the end of each step.'),
    lagSeconds: z
      .array(z.int())
      .describe(
        'How long ago the oldest waiting change was found, at the end of each step, as if changes were settled in the order in which they were found; at most 7 days.',
      ),
    timezone: z.string().nullable().describe('Time zone of the event; null: not known, or the chart is of a sink.'),
    marks: z.array(
      z.object({
        kind: z.enum(['incident', 'restart', 'configuration']),
        at: instant(),
        until: instant().nullable().describe('End of an incident; null: it lasts, or the mark is an instant.'),
        text: z.string(),
      }),
    ),
  })
  .openapi('Activity');
export type Activity = z.infer<typeof activitySchema>;

/** An incident is looked up among the newest of the installation. */
const maxIncidents = 500;

/**
 * Returns the changes that were found and delivered in each step of a span, and what waited.
 * @param options.scope incidents that the caller may see; null: all
 */
export async function readActivity(
  ledger: Ledger,
  of: ActivityOf,
  { span, scope }: { readonly span: Span; readonly scope: IncidentScope | null },
): Promise<Activity> {
  const { spanMs, stepMs, fineMs } = spans[span];
  const nowMs = ledger.clock.nowMs();
  const fromMs = Math.floor(nowMs / stepMs) * stepMs - spanMs + stepMs;
  const since = new Date(fromMs);
  const [changes, incidents, starts, configurations, timezone] = await Promise.all([
    changesByStep(ledger, of, { fromMs, stepMs: fineMs }),
    listIncidents(ledger, { isOpen: null, since, scope }, { before: null, limit: maxIncidents }),
    startsSince(ledger, since),
    configurationsSince(ledger, since),
    'pigeonhole' in of ? timesOf(ledger.db, of.pigeonhole).then((times) => times.timezone) : null,
  ]);
  return {
    stepSeconds: stepMs / 1000,
    from: since.toISOString(),
    ...seriesOf(changes, { fromMs, stepMs, fineMs, steps: spanMs / stepMs, nowMs }),
    timezone,
    marks: [
      ...incidents
        .filter((incident) => concerns(of, incident))
        .map(({ since: at, endedAt, title }) => ({
          kind: 'incident' as const,
          at: at.toISOString(),
          until: endedAt?.toISOString() ?? null,
          text: title,
        })),
      ...starts.map((at) => ({
        kind: 'restart' as const,
        at: at.toISOString(),
        until: null,
        text: 'pigeonpost started',
      })),
      ...configurations.map(({ number, appliedAt }) => ({
        kind: 'configuration' as const,
        at: appliedAt.toISOString(),
        until: null,
        text: `configuration ${number} became current`,
      })),
    ].toSorted((a, b) => a.at.localeCompare(b.at)),
  };
}

/** Whether an incident can explain the chart: it is of the same sink or event, of the event's workspace, or of the process. */
function concerns(of: ActivityOf, { kind, subject }: { readonly kind: string; readonly subject: string }): boolean {
  if (kind === 'process') return true;
  if ('sink' in of) return (kind === 'sink' && subject === of.sink) || kind === 'workspace';
  const { workspace, pigeonholeId } = of.pigeonhole;
  return (
    (kind === 'workspace' && subject === workspace) ||
    (kind === 'pigeonhole' && subject === `${workspace}/${pigeonholeId}`) ||
    kind === 'sink'
  );
}

interface SeriesTimes {
  readonly fromMs: number;
  readonly stepMs: number;
  readonly fineMs: number;
  readonly steps: number;
  readonly nowMs: number;
}

/** Returns the series of a chart. Pure. */
export function seriesOf(
  { found: changes, sinks }: ChangesByStep,
  { fromMs, stepMs, fineMs, steps, nowMs }: SeriesTimes,
): Pick<Activity, 'found' | 'delivered' | 'waiting' | 'lagSeconds'> {
  const zeros = (): number[] => Array.from({ length: steps }, () => 0);
  const placeOf = (atMs: number): number => Math.min(steps - 1, Math.floor((atMs - fromMs) / stepMs));
  const added = <Row extends { readonly atMs: number }>(
    rows: readonly Row[],
    count: (row: Row) => number,
  ): number[] => {
    const sums = zeros();
    for (const row of rows) if (placeOf(row.atMs) >= 0) sums[placeOf(row.atMs)]! += count(row);
    return sums;
  };
  const found = added(changes, (row) => row.changes);
  const delivered = zeros();
  const waiting = zeros();
  const lagSeconds = zeros();
  for (const sink of sinks) {
    added(sink.steps, (row) => row.delivered).forEach((count, at) => (delivered[at]! += count));
    const settled = added(sink.steps, (row) => row.settled);
    // What waits now is known, and the steps say how it came about.
    let left = sink.waiting;
    for (let at = steps - 1; at >= 0; at -= 1) {
      waiting[at]! += Math.max(0, left);
      const endMs = Math.min(nowMs, fromMs + (at + 1) * stepMs);
      lagSeconds[at] = Math.max(lagSeconds[at]!, lagAt(changes, { waiting: left, endMs, fineMs }));
      left += settled[at]! - found[at]!;
    }
  }
  return { found, delivered, waiting, lagSeconds };
}

/** Goes back through the changes that were found before an instant, until as many were found as waited then. */
function lagAt(
  changes: ChangesByStep['found'],
  { waiting, endMs, fineMs }: { readonly waiting: number; readonly endMs: number; readonly fineMs: number },
): number {
  let left = waiting;
  let oldestMs = endMs;
  for (let at = changes.length - 1; at >= 0 && left > 0; at -= 1) {
    const { atMs, changes: count } = changes[at]!;
    if (atMs >= endMs) continue;
    oldestMs = Math.min(endMs, atMs + fineMs);
    left -= count;
  }
  return Math.round((endMs - oldestMs) / 1000);
}
