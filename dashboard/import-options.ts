import type { ImportCheck, SavedMapping } from '../importing/desk/import-views.js';

/** Options of an import in the form. An empty text means that the option is not set. */
export interface ImportForm {
  readonly pigeonhole: string;
  /** Field chosen for each column; null: the column is not sent. */
  readonly columns: Readonly<Record<string, string | null>>;
  /** The name of a saved mapping. */
  readonly mapping: string;
  readonly saveMapping: string;
  readonly canary: boolean;
  readonly generateCodes: boolean;
  readonly force: boolean;
  readonly encoding: string;
  readonly delimiter: string;
  readonly sheet: string;
}

export const emptyForm: ImportForm = {
  pigeonhole: '',
  columns: {},
  mapping: '',
  saveMapping: '',
  canary: false,
  generateCodes: false,
  force: false,
  encoding: '',
  delimiter: '',
  sheet: '',
};

/**
 * Returns the saved mappings that apply to a pigeonhole, each name once; all mappings if no workspace is named. Pure.
 */
export function mappingsFor(saved: readonly SavedMapping[], pigeonhole: string): SavedMapping[] {
  const [workspace] = pigeonhole.includes('/') ? pigeonhole.split('/') : [undefined];
  const usable = saved.filter(
    (each) => workspace === undefined || each.workspace === null || each.workspace === workspace,
  );
  return usable.filter(({ name }, index) => usable.findIndex((each) => each.name === name) === index);
}

/**
 * Builds the query of an upload. Pure.
 * @param content hash of the file that was checked: the server refuses a file with another content
 */
export function uploadQuery(form: ImportForm, fileName: string, content?: string): string {
  const map = [
    ...(form.mapping === '' ? [] : [form.mapping]),
    ...Object.entries(form.columns).map(([column, field]) => `${column}=${field ?? ''}`),
  ];
  const given: Record<string, string> = {
    pigeonhole: form.pigeonhole,
    name: fileName,
    ...(map.length === 0 ? {} : { map: JSON.stringify(map) }),
    ...(form.saveMapping === '' || content === undefined ? {} : { saveMapping: form.saveMapping }),
    ...(form.canary ? { canary: '1' } : {}),
    ...(form.generateCodes ? { generateCodes: 'true' } : {}),
    ...(form.force ? { force: 'true' } : {}),
    ...(form.encoding === '' ? {} : { encoding: form.encoding }),
    ...(form.delimiter === '' ? {} : { delimiter: form.delimiter }),
    ...(form.sheet === '' ? {} : { sheet: form.sheet }),
    ...(content === undefined ? {} : { content }),
  };
  return new URLSearchParams(given).toString();
}

/**
 * Returns the fields that no attendee has ever had. The service silently ignores fields that it does not know. Pure.
 */
export function neverSeen(columns: ImportCheck['columns']): string[] {
  return columns.flatMap(({ known, property }) => (known === false && property !== null ? [property] : []));
}

/** Returns the number of rows that would be sent now. Pure. */
export function rowsToSend({ counts, canary }: Pick<ImportCheck, 'counts' | 'canary'>): number {
  return canary === null ? counts.send : Math.min(canary, counts.send);
}
