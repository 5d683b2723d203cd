import { noteWords } from '../../base/import-notes.js';
import { evidenceInWords } from '../../base/code-evidence.js';
import type {
  ImportCheck,
  ImportColumn,
  ImportedFile,
  PlannedCounts,
  ProblemCount,
  ProblemGroup,
  SendingEstimate,
  ImportTarget,
} from '../../importing/desk/import-views.js';
import { counted, grouped, formatDistance, rowsInWords } from '../../base/words.js';
import { renderLine, span, shownInLine, tableLines } from '../text-line.js';
import { clockTime } from './follow-import.js';

/** Maximum number of problems listed; the others are counted. */
const maxGroups = 20;

export interface Sheet {
  readonly columns: number;
  readonly now: Date;
  /** IANA name; by default that of this machine. */
  readonly timeZone?: string;
}

/** Formats the plan of an import. Samples are cut at the width of the terminal. Pure. */
export function formatCheck(check: ImportCheck, sheet: Sheet): string[] {
  return [
    `file    ${fileInWords(check.file, check.rows)}`,
    ...check.file.remarks.map((remark) => `note    ${remark}`),
    ...encodingLines(check.file),
    `to      ${targetInWords(check.target)}${check.target.asOf === null ? '' : `, as of ${formatDistance(new Date(check.target.asOf), sheet.now)}`}`,
    '',
    ...columnLines(check).map((line) => renderLine([span(line)], { columns: sheet.columns, colours: false })),
    ...nothingKnownLines(check),
    ...nameLines(check),
    ...doubtLines(check),
    '',
    ...plannedLines(check),
    ...problemLines(check),
    ...check.noteCounts.filter(({ code }) => code !== 'code-generated').map((note) => `note    ${noteInWords(note)}`),
    ...estimateLines(check.estimate, sheet),
  ].map(shownInLine);
}

const formats: Readonly<Record<string, string>> = { csv: 'CSV', xlsx: 'Excel', json: 'JSON', ndjson: 'NDJSON' };
const delimiters: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
};

function fileInWords({ name, format, encoding, delimiter, sheet }: ImportedFile, rows: number): string {
  return [
    name,
    formats[format] ?? format,
    ...(delimiter === null ? [] : [delimiters[delimiter] ?? `delimiter "${delimiter}"`]),
    ...(sheet === null ? [] : [`sheet "${sheet}"`]),
    ...(encoding === null ? [] : [encoding]),
    counted(rows, 'row'),
  ].join(', ');
}

/** Returns the guess of the encoding with cells that prove it. */
function encodingLines({ encodingGuess: guess }: ImportedFile): string[] {
  if (guess === null) return [];
  const verdict = guess.isSure ? 'was guessed' : 'is not certain: check the names, or choose another with --encoding';
  const [first] = guess.proofs;
  const words = (encoding: string, index: number): string =>
    `        ${index === 0 ? 'as' : 'or as'} ${encoding}: ${guess.proofs.map(({ line, readings }) => `${readings[index]?.text.trim() ?? ''} (line ${line})`).join(', ')}`;
  return [
    `note    the encoding ${guess.encoding} ${verdict}`,
    ...(first?.readings ?? []).map(({ encoding }, index) => words(encoding, index)),
  ];
}

/** Returns whether a person has to confirm the encoding. */
export function needsEncoding({ file: { encodingGuess } }: ImportCheck): boolean {
  return encodingGuess !== null && !encodingGuess.isSure;
}

function columnLines({ columns, codeColumn }: ImportCheck): string[] {
  const open = codeColumn.basis === 'several' ? codeColumn.candidates : [];
  const rows = columns.map(({ column, property, sample, ...column_ }) => {
    const candidate = open.find((each) => each.column === column);
    return [
      column === '' ? '(no name)' : column,
      candidate !== undefined
        ? 'attendeeCode?'
        : property === null
          ? 'not sent'
          : `${property}${marks(property, column_)}`,
      candidate !== undefined ? (candidate.first ?? '') : property === null ? '' : (sample ?? ''),
    ];
  });
  return tableLines([['column', 'becomes', 'for example'], ...rows]);
}

function marks(property: string, { guessed, known }: Pick<ImportColumn, 'guessed' | 'known'>): string {
  const words = [...(guessed ? ['guessed'] : []), ...(isStrange(property, known) ? ['unknown field'] : [])];
  return words.length === 0 ? '' : ` (${words.join(', ')})`;
}

function isStrange(property: string, known: boolean | null): boolean {
  return property !== 'attendeeCode' && known === false;
}

/** Returns fields that no attendee of the pigeonhole has. The service would silently ignore them. */
export function strangeFields(columns: readonly ImportColumn[]): string[] {
  const strange = columns.flatMap(({ property, known }) =>
    property !== null && isStrange(property, known) ? [property] : [],
  );
  return [...new Set(strange)]; // a field may join two columns
}

/** Returns the sentence that nobody would have a name, with what to do. Pure. */
export function namesInWords({ parts }: ImportCheck['names']): string {
  const remedy =
    parts.length === 0
      ? 'to fill it, add --map "COLUMN=Name"'
      : `to join these columns, add --map "${parts.join('+')}=Name"`;
  return `no column fills the field Name, so nobody would have a name: ${remedy}`;
}

function nameLines({ names }: ImportCheck): string[] {
  return names.missing ? ['', namesInWords(names)] : [];
}

/** Says that the column which the operator has named does not look like codes. */
function doubtLines({ codeColumn: { basis, candidates } }: ImportCheck): string[] {
  const doubtful = basis === 'mapped' ? candidates.filter(({ isDoubtful }) => isDoubtful) : [];
  return doubtful.flatMap((each) => [
    '',
    `the values in ${each.column} do not look like codes (${evidenceInWords(each)})`,
  ]);
}

/**
 * Returns a warning if the pigeonhole has no attendees yet, because there are no fields with which the columns could be
 * compared.
 */
function nothingKnownLines({ columns }: ImportCheck): string[] {
  const fields = columns.filter(({ property }) => property !== null && property !== 'attendeeCode');
  if (fields.length === 0 || fields.some(({ known }) => known !== null)) return [];
  return [
    '',
    'this pigeonhole has no attendees yet, so the field names cannot be checked: import one row with --canary 1 to see whether they arrive',
  ];
}

export function questionOf({ target, counts, canary }: ImportCheck): string {
  const now = sentNow(counts.send, canary);
  const who = now === 1 ? 'registrant' : 'registrants';
  return shownInLine(`Create ${grouped(now)} ${who} in ${targetInWords(target)}?`);
}

function sentNow(send: number, canary: number | null): number {
  return Math.min(send, canary ?? send);
}

const planned: readonly (readonly [keyof PlannedCounts, string])[] = [
  ['send', 'to send'],
  ['existing', 'sent before with the same data: not sent again'],
  ['conflict', 'sent before with different data: edit the registrant in the dashboard of the service'],
  ['rejected', 'refused before and unchanged since: not sent again'],
  ['elsewhere', 'in another import that has not finished: this import waits for it and then reports their outcome'],
  ['invalid', 'not sent, because of the problems below'],
];

function plannedLines({ counts, generatedCodes, canary }: ImportCheck): string[] {
  const now = sentNow(counts.send, canary);
  return countLines([
    ...planned.filter(([key]) => key === 'send' || counts[key] > 0).map(([key, words]): Count => [counts[key], words]),
    ...(now === counts.send ? [] : [[now, 'to send now, the rest without --canary'] satisfies Count]),
    ...(generatedCodes === 0
      ? []
      : [[generatedCodes, `${generatedCodes === 1 ? 'row gets' : 'rows get'} a generated code`] satisfies Count]),
  ]);
}

type Count = readonly [rows: number, words: string];

/** Formats numbers of rows, aligned on the right, with their meaning. Pure. */
export function countLines(counts: readonly Count[]): string[] {
  const width = Math.max(...counts.map(([rows]) => grouped(rows).length));
  return counts.map(([rows, words]) => `${grouped(rows).padStart(width)} ${words}`);
}

function problemLines({ file, problems, problemsLeftOut, problemGroups }: ImportCheck): string[] {
  if (problems.length === 0) return [];
  const inGroups = problemGroups.reduce((sum, { rows }) => sum + rows, 0);
  return ['', ...groupLines(file.name, problemGroups, problems.length - inGroups + problemsLeftOut)];
}

/**
 * Returns a line for each of the first groups, in the order of the file, and the number of problems without a line.
 * Pure.
 * @param file name of the imported file
 * @param more number of problems that belong to no group
 */
export function groupLines(file: string, groups: readonly ProblemGroup[], more: number): string[] {
  const left = groups.slice(maxGroups).reduce((sum, { rows }) => sum + rows, more);
  return [
    ...groups.slice(0, maxGroups).map((group) => groupInWords(file, group)),
    ...(left === 0 ? [] : [`and ${counted(left, 'more problem', 'more problems')}`]),
  ];
}

function noteInWords({ code, column, rows, firstRows }: ProblemCount): string {
  return `${rowsInWords(rows, firstRows)}${column === null ? '' : `, ${column}`}: ${noteWords(code)}`;
}

function estimateLines(
  { requests, rowsPerRequest, left, resetAt, waits, doneAt }: SendingEstimate,
  sheet: Sheet,
): string[] {
  if (requests === 0) return ['', 'there is nothing to send'];
  const head = `${counted(requests, 'request')} of up to ${grouped(rowsPerRequest)} rows`;
  const at = (instant: string): string => {
    const date = new Date(instant);
    return `${clockTime(date, sheet.now, sheet.timeZone)} (${formatDistance(date, sheet.now)})`;
  };
  if (left === null) return ['', `${head}; the remaining quota is unknown`];
  const quota = `the quota has ${grouped(left)} left${resetAt === null ? '' : `, and more at ${at(resetAt)}`}`;
  const wait =
    waits === 0 ? '' : waits === null ? ', and waits for the quota' : `, and waits for the quota ${times(waits)}`;
  const done = doneAt === null ? '' : `; done about ${at(doneAt)}`;
  return ['', `${head}; ${quota}`, `sending takes at most 1 s per request${wait}${done}`];
}

function times(n: number): string {
  return n === 1 ? 'once' : n === 2 ? 'twice' : `${grouped(n)} times`;
}

/**
 * Returns a description of a pigeonhole, such as "acme/123 Annual Conference, 2026-11-21 to 2026-11-22, upcoming".
 * Pure.
 */
export function targetInWords({ workspace, pigeonholeId, name, startDate, endDate, status }: ImportTarget): string {
  const days = startDate === endDate ? [startDate] : [startDate, endDate];
  const when = days.filter((day) => day !== null).join(' to ');
  return [`${workspace}/${pigeonholeId} ${name ?? '(no name)'}`, when, status ?? 'status unknown']
    .filter((part) => part !== '')
    .join(', ');
}

/** Returns one sentence for all rows of a group, without cell contents. Pure. */
function groupInWords(file: string, group: ProblemGroup): string {
  const { column, message, rows, firstRows } = group;
  return shownInLine(
    `${file}, ${rowsInWords(rows, firstRows)}${column === null ? '' : `, ${column}`}: ${message}${hintOf(group)}`,
  );
}

function hintOf({ column, code, message, worksWithoutColumn }: ProblemGroup): string {
  if (code === 'missing-code') return ' To generate codes, add --generate-codes';
  if (!worksWithoutColumn) return '';
  const end = /[.!?]$/.test(message) ? '' : '.';
  return `${end} To import without this column, add --map "${column}="`;
}
