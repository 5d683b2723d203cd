import type { Fields } from './sink.js';

/** A JSON object; empty for anything else. */
export function fieldsOf(found: unknown): Fields {
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Fields) : {};
}
