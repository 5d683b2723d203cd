import type { ImportTarget } from '../../importing/desk/import-views.js';

/** "acme/123 Annual Conference, 2026-11-21 to 2026-11-22, upcoming": what a person recognises a pigeonhole by. Pure. */
export function targetInWords({ workspace, pigeonholeId, name, startDate, endDate, status }: ImportTarget): string {
  const days = startDate === endDate ? [startDate] : [startDate, endDate];
  const when = days.filter((day) => day !== null).join(' to ');
  return [`${workspace}/${pigeonholeId} ${name ?? '(no name)'}`, when, status ?? 'status not known']
    .filter((part) => part !== '')
    .join(', ');
}
