/**
 * The columns of a report that are about the import and not the registrant. A report that is imported again is known by them, and they
 * are not sent. Changing a name would make older reports send it.
 */
export const reportColumns = [
  'Import row',
  'Import outcome',
  'Import field',
  'Import message',
  'Import request id',
] as const;

export function isReportColumn(column: string): boolean {
  return (reportColumns as readonly string[]).includes(column);
}
