import { counted, grouped } from './words.js';

/** Values of a column that are compared, so that memory does not grow with the file. */
export const maxCompared = 10_000;

/** Evidence whether the values of a column are codes. Contains no value except the first. */
export interface CodeEvidence {
  readonly column: string;
  /** The first value; null: the column is empty. */
  readonly first: string | null;
  /** Rows with a value, among the first 10,000 of them. */
  readonly filled: number;
  /** Number of different values among these. */
  readonly different: number;
  /** Number of these rows whose value contains a digit. */
  readonly withDigit: number;
  /** Whether the values are surely no codes: each belongs to many people, or they are a few words. */
  readonly isDoubtful: boolean;
}

/** Returns `2 different values in 40 rows, none with a digit`. Pure. */
export function evidenceInWords({ filled, different, withDigit }: CodeEvidence): string {
  if (filled === 0) return 'no values';
  const isCut = filled >= maxCompared;
  const rows = isCut ? `the first ${counted(filled, 'row')}` : counted(filled, 'row');
  const values = `${grouped(different)} ${different === 1 ? 'value' : 'different values'}`;
  return `${values} in ${rows}${withDigit === 0 ? ', none with a digit' : ''}`;
}
