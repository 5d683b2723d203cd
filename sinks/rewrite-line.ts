import { type Change, changeJson } from './change.js';
import type { ErasedItems } from './sink.js';

/** Matches the first `key` of a line. It is the envelope's key, because the item's data comes after it. */
const keyOfEnvelope = /"key":("(?:[^"\\]|\\.)*")/;

/**
 * Removes the data of erased items from a line (one change envelope). Returns the line unchanged, the line without the
 * erased text, or null if the caller must delete the line. A line that records the deletion of an item stays, because
 * it contains only the item's key. Pure; a second run changes nothing.
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
