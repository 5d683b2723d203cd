import { type ListName, listNames, listTraits } from '../lists.js';

/** The tables that can be exported: every list, dead letters, and the rows of imports. */
export const sheetNames = [...listNames, 'dead-letters', 'import-rows'] as const;
export type SheetName = (typeof sheetNames)[number];

export const exportFormats = ['csv', 'xlsx'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export function isList(name: SheetName): name is ListName {
  return (listNames as readonly string[]).includes(name);
}

/** Whether a pigeonhole has this table. The id 0 has the lists of its workspace. */
export function hasSheet({ pigeonholeId }: { readonly pigeonholeId: number }, name: SheetName): boolean {
  return (isList(name) && listTraits[name].of === 'workspace') === (pigeonholeId === 0);
}

/** Returns the name of the file with the dead letters of a sink: `crm-dead-letters.xlsx`, or `acme-101-crm-dead-letters.csv`. */
export function deadLettersFileName(
  { sink, pigeonhole }: { readonly sink: string; readonly pigeonhole: string | null },
  format: ExportFormat,
): string {
  const at = pigeonhole === null ? '' : `${pigeonhole.replace('/', '-')}-`;
  return `${at}${sink}-dead-letters.${format}`;
}

/** Returns the name of the file of an export, such as `acme-101-attendees.csv` or `acme-101.xlsx`. */
export function exportFileName({
  place: { workspace, pigeonholeId },
  sheets,
  format,
}: {
  readonly place: { readonly workspace: string; readonly pigeonholeId: number };
  readonly sheets: readonly SheetName[];
  readonly format: ExportFormat;
}): string {
  const what = pigeonholeId === 0 ? workspace : `${workspace}-${pigeonholeId}`;
  return sheets.length === 1 ? `${what}-${sheets[0]}.${format}` : `${what}.${format}`;
}
