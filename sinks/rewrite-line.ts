import { type Change, changeJson } from './change.js';
import type { ErasedItems } from './sink.js';

/** The first `key` of a line is the envelope's: what an item says stands behind it. */
const keyOfEnvelope = /"key":("(?:[^"\\]|\\.)*")/;

/**
 * A line without what was erased: as it is, shortened, or null for one that goes as a whole. Pure; a line that was
 * rewritten is left as it is by a second run. That an item is gone stays: it holds nothing but the key.
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
