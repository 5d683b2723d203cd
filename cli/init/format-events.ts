import type { ListedEvents } from '../../operations/list-events.js';
import { counted } from '../grouped.js';
import { shownInLine } from '../shown-text.js';
import { cell } from '../text-width.js';

const order = ['live', 'upcoming', 'new', 'ended'];
const nameWidth = 44;

/** Returns the events of a workspace as a list to choose from: live ones first, then by day. Pure. */
export function formatEvents({ events, hasMore }: ListedEvents, maxShown: number): string[] {
  if (events.length === 0) return ['the workspace has no pigeonholes yet'];
  const rank = (status: string | null): number => (order.indexOf(status ?? '') + order.length + 1) % (order.length + 1);
  const shown = events
    .toSorted((a, b) => rank(a.status) - rank(b.status) || a.startDate.localeCompare(b.startDate) || a.id - b.id)
    .slice(0, maxShown);
  const idWidth = Math.max(...shown.map(({ id }) => String(id).length));
  const more = events.length - shown.length;
  return [
    ...shown.map(({ id, name, status, startDate }) =>
      `${String(id).padStart(idWidth)}  ${cell(shownInLine(name), nameWidth)}  ${(status ?? '').padEnd(8)}  ${startDate.slice(0, 10)}`.trimEnd(),
    ),
    ...(more > 0 || hasMore
      ? [`and ${hasMore ? 'at least ' : ''}${counted(more, 'more pigeonhole', 'more pigeonholes')}`]
      : []),
  ];
}
