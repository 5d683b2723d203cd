import { formatDistance } from '../base/words.js';

export function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, n) => sum + n, 0);
}

/** Returns "12 s ago", "in 3 min" or "just now". */
export function inWords(at: Date, now: Date): string {
  return formatDistance(at.getTime(), now.getTime());
}

const words: Readonly<Record<string, string>> = {
  'consent-refused': 'consent refused',
  'consent-not-asked': 'consent not asked',
  'consent-not-known': 'consent unknown',
  'list-not-wanted': 'a list that the sink no longer receives',
  condition: 'excluded by its condition',
  'not-selected': 'a pigeonhole that no sync of this sink selects',
  'no-match': 'no value to match by',
  'no-email': 'no e-mail address',
  'no-key': 'no key and no e-mail address to match by',
  'no-user': 'no user',
  'no-assignment': 'no course or assignment',
  'no-grade': 'no grade',
  'no-actor': 'no actor',
  'no-text': 'no text',
  'no-attendance': 'no attendance',
  unchanged: 'already up to date at the destination',
};

/** Returns the text for a reason to withhold a change. */
export function reasonWords(reason: string): string {
  return words[reason] ?? reason;
}
