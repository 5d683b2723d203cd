import { codeProperty } from '../../importing/files/field-words.js';
import { evidenceInWords } from '../../base/code-evidence.js';
import type { ImportCheck } from '../../importing/desk/import-views.js';
import { shownInLine, tableLines } from '../text-line.js';

type CodeColumn = ImportCheck['codeColumn'];

/**
 * Formats the columns among which the operator chooses the one with the attendee codes, numbered from 1. Pure.
 * @param mayGenerate whether the operator may answer 0 for none of them
 */
export function candidateLines({ candidates }: CodeColumn, mayGenerate: boolean): string[] {
  return tableLines([
    ['', 'column', 'holds', 'for example'],
    ...(mayGenerate ? [['0', 'none of them', 'generate a code for each row', '']] : []),
    ...candidates.map((each, n) => [
      String(n + 1),
      each.column,
      evidenceInWords(each),
      (each.first ?? '').slice(0, 40),
    ]),
  ]).map(shownInLine);
}

/** Returns the mappings that an answer selects; null: it selects nothing. Pure. */
export function mappingsFor(answer: string, { candidates }: CodeColumn, mayGenerate: boolean): string[] | null {
  if (!/^\d+$/.test(answer)) return null;
  if (Number(answer) === 0) return mayGenerate ? candidates.map(({ column }) => `${column}=${column}`) : null;
  const chosen = candidates[Number(answer) - 1];
  return chosen === undefined ? null : [`${chosen.column}=${codeProperty}`];
}
