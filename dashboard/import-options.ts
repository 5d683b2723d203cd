import type { ImportCheck, SavedMapping } from '../importing/desk/import-views.js';

/** Options of an import, as the form holds them. Empty texts are not set. */
export interface ImportWish {
  readonly pigeonhole: string;
  /** Fields chosen for columns; null: the column is not sent. */
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

export const firstWish: ImportWish = {
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

/** Saved mappings that can be used at a pigeonhole, each name once; all of them while its workspace is not named. Pure. */
export function mappingsFor(saved: readonly SavedMapping[], pigeonhole: string): SavedMapping[] {
  const [workspace] = pigeonhole.includes('/') ? pigeonhole.split('/') : [undefined];
  const usable = saved.filter(
    (each) => workspace === undefined || each.workspace === null || each.workspace === workspace,
  );
  return usable.filter(({ name }, index) => usable.findIndex((each) => each.name === name) === index);
}

/**
 * The query of an upload. Pure.
 * @param content of the check that a person has looked at: another file, or one that has changed since, is refused
 */
export function uploadQuery(wish: ImportWish, fileName: string, content?: string): string {
  const map = [
    ...(wish.mapping === '' ? [] : [wish.mapping]),
    ...Object.entries(wish.columns).map(([column, field]) => `${column}=${field ?? ''}`),
  ];
  const given: Record<string, string> = {
    pigeonhole: wish.pigeonhole,
    name: fileName,
    ...(map.length === 0 ? {} : { map: JSON.stringify(map) }),
    ...(wish.saveMapping === '' || content === undefined ? {} : { saveMapping: wish.saveMapping }),
    ...(wish.canary ? { canary: '1' } : {}),
    ...(wish.generateCodes ? { generateCodes: 'true' } : {}),
    ...(wish.force ? { force: 'true' } : {}),
    ...(wish.encoding === '' ? {} : { encoding: wish.encoding }),
    ...(wish.delimiter === '' ? {} : { delimiter: wish.delimiter }),
    ...(wish.sheet === '' ? {} : { sheet: wish.sheet }),
    ...(content === undefined ? {} : { content }),
  };
  return new URLSearchParams(given).toString();
}

/** Fields that nobody was ever seen to have: the service ignores those that it does not know, without a word. Pure. */
export function neverSeen(columns: ImportCheck['columns']): string[] {
  return columns.flatMap(({ known, property }) => (known === false && property !== null ? [property] : []));
}

/** Returns the number of rows that would be sent now. Pure. */
export function rowsToSend({ counts, canary }: Pick<ImportCheck, 'counts' | 'canary'>): number {
  return canary === null ? counts.send : Math.min(canary, counts.send);
}
