import { type Change, changeJson } from './change.js';
import type { ErasedItems } from './sink.js';

/** The first `key` of a line belongs to the envelope: the item's data follows it. */
const keyOfEnvelope = /"key":("(?:[^"\\]|\\.)*")/;

/**
 * Removes erased data from a line. Returns it unchanged, shortened, or null to delete it. Pure; a second run changes
 * nothing. The change that deleted an item stays, because it contains only the key.
 */
export function rewriteLine(line: string, list: string, { keys, questions }: ErasedItems): string | null {
  const [, key] = keyOfEnvelope.exec(line) ?? [];
  if (key !== undefined && keys.get(list)?.has(JSON.parse(key) as string)) {
    return (JSON.parse(line) as Change).data === null ? line : null;
  }
  if (questions.size === 0 || !line.includes('"question":{')) return line;
  const change = JSON.parse(line) as Change;
  const question = change.data?.['question'];
  const id = typeof question === 'object' && question !== null && 'id' in question ? question.id : undefined;
  if (typeof id !== 'number' || !questions.has(id)) return line;
  return changeJson({ ...change, data: { ...change.data, question: { id } } });
}
