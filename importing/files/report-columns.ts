/**
 * Columns of a report that describe the import and not the registrant. They are not sent when a report is imported
 * again. Do not rename them: the columns of older reports would then be sent.
 */
export const reportColumns = [
  'Import row',
  'Import outcome',
  'Import field',
  'Import message',
  'Import request id',
] as const;

/** Whether a column describes an import and not the registrant. */
export function isReportColumn(column: string): boolean {
  return (reportColumns as readonly string[]).includes(column);
}
