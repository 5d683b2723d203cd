import type { Estimate } from '../operations/estimate.js';

const mostDays = 14;

/** An estimate as a table of its days, the busiest marked, with a sentence on what it means. Pure. */
export function formatEstimate({ workspaces, quota, days, busiest, advice, requestsMade }: Estimate): string[] {
  const rows = days
    .toSorted((a, b) => total(b.needs) - total(a.needs))
    .slice(0, mostDays)
    .toSorted((a, b) => a.day.localeCompare(b.day))
    .map(({ day, pigeonholes, needs }) => [
      day,
      String(pigeonholes),
      ...[needs.live, needs.idle, needs.sweep, total(needs)].map((n) => String(Math.ceil(n))),
      ...(quota === null ? [] : [`${Math.ceil((total(needs) / quota) * 100)} %`]),
      ...(day === busiest?.day ? ['<- busiest'] : []),
    ]);
  const head = ['day', 'pigeonholes', 'live', 'idle', 'sweeps', 'requests', ...(quota === null ? [] : ['of quota'])];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    `  ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column] ?? 0))).join('  ')}`;
  return [
    `estimate for ${workspaces.join(', ')}${quota === null ? '' : `, ${quota} requests a day`}:`,
    ...(rows.length === 0 ? [] : [line(head), ...rows.map(line)]),
    ...(days.length > mostDays ? [`  and ${days.length - mostDays} further days that need less`] : []),
    `  ${advice.text}`,
    `  The first walk over what is there already comes on top. This estimate has made ${requestsMade} requests.`,
  ];
}

function total({ live, idle, sweep }: { live: number; idle: number; sweep: number }): number {
  return live + idle + sweep;
}
