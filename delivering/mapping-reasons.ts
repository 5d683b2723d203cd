/**
 * Reasons under which a sink's mapping makes nothing of an item because a value is missing. A changed mapping may cure
 * them; consent, an unchanged record or a deletion is none of them.
 */
const lacking: ReadonlySet<string> = new Set([
  'no-match',
  'no-email',
  'no-key',
  'no-user',
  'no-actor',
  'no-assignment',
  'no-grade',
  'no-activity',
  'no-attendance',
  'no-text',
  'no-value',
]);

/** True for reasons that mean: the mapping found no value where it needs one. */
export function isLacking(reason: string): boolean {
  return lacking.has(reason);
}

/** Reasons that the mapping of a sink decides, so that another mapping may decide otherwise. */
export const mappingReasons: readonly string[] = [...lacking, 'condition', 'no-record'];
