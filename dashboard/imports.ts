import type { ImportCheck, ImportCounts, ImportTarget, SavedMapping } from '../importing/desk/import-views.js';
import type { RowOutcome } from '../base/row-outcomes.js';

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
  const { pigeonhole, encoding, delimiter, sheet } = form;
  const given = {
    pigeonhole,
    name: fileName,
    map: map.length === 0 ? '' : JSON.stringify(map),
    saveMapping: content === undefined ? '' : form.saveMapping,
    canary: form.canary ? '1' : '',
    generateCodes: form.generateCodes ? 'true' : '',
    force: form.force ? 'true' : '',
    encoding,
    delimiter,
    sheet,
    content: content ?? '',
  };
  return new URLSearchParams(Object.entries(given).filter(([, value]) => value !== '')).toString();
}

/**
 * Returns the chosen fields after one more choice. A column belongs to one choice, and the code to one column. Pure.
 * @param column name of a column, or several that `+` joins to one field
 * @param field null: not sent
 */
export function withField(columns: ImportForm['columns'], column: string, field: string | null): ImportForm['columns'] {
  const own = column.split('+');
  const isReplaced = ([each, chosen]: readonly [string, string | null]): boolean =>
    each === column || own.includes(each) || each.split('+').includes(column) || (field === code && chosen === code);
  const kept = Object.entries(columns).filter((choice) => !isReplaced(choice));
  return { ...Object.fromEntries(kept), [column]: field };
}

const code = 'attendeeCode';

/**
 * Returns the problems that the page lists. What is open about the column of the codes has a panel of its own. Pure.
 */
export function listedProblems({ problems, problemsLeftOut, problemGroups }: ListedProblems): {
  readonly groups: ImportCheck['problemGroups'];
  readonly count: number;
} {
  const isListed = (problem: { readonly code: string }): boolean => problem.code !== 'code-column';
  return { groups: problemGroups.filter(isListed), count: problems.filter(isListed).length + problemsLeftOut };
}

type ListedProblems = Pick<ImportCheck, 'problems' | 'problemsLeftOut' | 'problemGroups'>;

/**
 * Returns the fields that no attendee has ever had. The service silently ignores fields that it does not know. Pure.
 */
export function neverSeen(columns: ImportCheck['columns']): string[] {
  return [
    ...new Set(columns.flatMap(({ known, property }) => (known === false && property !== null ? [property] : []))),
  ];
}

/** Returns the warning about an event that has ended, into which `force` allows an import; null for others. Pure. */
export function endedWarning({ status }: Pick<ImportTarget, 'status'>, force: boolean): string | null {
  if (status !== 'ended') return null;
  if (force) return 'This event has ended.';
  return 'This event has ended. To import anyway, select “import even if the event has ended” under “More options”.';
}

/** Returns the number of rows that would be sent now: none until the column of the codes is certain. Pure. */
export function rowsToSend({
  counts,
  canary,
  codeColumn,
}: Pick<ImportCheck, 'counts' | 'canary' | 'codeColumn'>): number {
  if (codeColumn.doubt !== null) return 0;
  return canary === null ? counts.send : Math.min(canary, counts.send);
}

export function countOf(counts: ImportCounts, outcome: RowOutcome): number {
  return counts[outcome] ?? 0;
}

/** Name of each outcome, and what to do about it. */
export const outcomeWords: Readonly<Record<RowOutcome, { readonly name: string; readonly todo: string | null }>> = {
  created: { name: 'created', todo: null },
  confirmed: { name: 'created (confirmed after a lost response)', todo: null },
  existing: { name: 'already registered', todo: null },
  conflict: {
    name: 'conflict',
    todo: 'the code exists with different data; if your file is right, edit the registrant in the dashboard of the service',
  },
  rejected: { name: 'rejected by the service', todo: 'correct the rows and import the file again' },
  invalid: { name: 'not sent', todo: 'correct the rows and import the file again' },
  unknown: { name: 'unknown', todo: "search for these registrants in the service's dashboard" },
  waiting: { name: 'waiting', todo: null },
  cancelled: { name: 'cancelled', todo: null },
};

/** Number of settled rows at an instant. */
export interface Progress {
  readonly atMs: number;
  readonly done: number;
}

/**
 * Period over which the rate is measured: long enough that one slow answer changes it little, and short enough to show
 * a new rate soon.
 */
const windowMs = 30_000;

/** Adds a measurement and drops those older than 30 s. Pure. */
export function withProgress(seen: readonly Progress[], now: Progress): readonly Progress[] {
  return [...seen.filter(({ atMs }) => now.atMs - atMs <= windowMs), now];
}

/** Returns rows per second over the last 30 s; null if the measurements span less than 1 s. Pure. */
export function rowsPerSecond(seen: readonly Progress[]): number | null {
  const first = seen[0];
  const last = seen.at(-1);
  if (first === undefined || last === undefined || last.atMs - first.atMs < 1000) return null;
  return ((last.done - first.done) * 1000) / (last.atMs - first.atMs);
}

/** Returns the seconds until the remaining rows are done; null without a positive rate. Pure. */
export function secondsLeft(left: number, perSecond: number | null): number | null {
  return perSecond === null || perSecond <= 0 ? null : left / perSecond;
}
