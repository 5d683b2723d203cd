import { counted, grouped } from '../../base/words.js';
import type { Estimate } from '../../operations/calendar-demand.js';
import { tableLines } from '../text-line.js';

const maxDays = 14;

/** Formats an estimate as a table of days with the busiest one marked, and a sentence that explains it. Pure. */
export function formatEstimate({ workspaces, quota, days, busiest, advice, requestsMade }: Estimate): string[] {
  const rows = days
    .toSorted((a, b) => total(b.needs) - total(a.needs))
    .slice(0, maxDays)
    .toSorted((a, b) => a.day.localeCompare(b.day))
    .map(({ day, pigeonholes, needs }) => [
      day,
      grouped(pigeonholes),
      ...[needs.live, needs.idle, needs.sweep, total(needs)].map((n) => grouped(Math.ceil(n))),
      ...(quota === null ? [] : [`${grouped(Math.ceil((total(needs) / quota) * 100))} %`]),
      ...(day === busiest?.day ? ['<- busiest'] : []),
    ]);
  const head = ['day', 'pigeonholes', 'live', 'idle', 'sweeps', 'requests', ...(quota === null ? [] : ['of quota'])];
  return [
    `estimate for ${workspaces.join(', ')}${quota === null ? '' : `, ${counted(quota, 'request')} a day`}:`,
    ...(rows.length === 0 ? [] : tableLines([head, ...rows], [1, 2, 3, 4, 5, 6]).map((line) => `  ${line}`)),
    ...(days.length > maxDays
      ? [`  and ${counted(days.length - maxDays, 'more day', 'more days')} with fewer requests`]
      : []),
    `  ${advice.text}`,
    `  The first read of existing items is not included. This estimate made ${counted(requestsMade, 'request')}.`,
  ];
}

function total({ live, idle, sweep }: { live: number; idle: number; sweep: number }): number {
  return live + idle + sweep;
}
