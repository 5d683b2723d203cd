/** "12,345". */
export function grouped(n: number): string {
  return n.toLocaleString('en-US');
}

/** "1 row", "12,345 rows". */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}

export function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, n) => sum + n, 0);
}

const minuteS = 60;
const hourS = 60 * minuteS;
const dayS = 24 * hourS;

/** "12 s ago", "in 3 min", "just now": uses the largest unit of which there are at least two. */
export function inWords(at: Date, now: Date): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000);
  if (seconds === 0) return 'just now';
  const span = spanInWords(Math.abs(seconds));
  return seconds > 0 ? `in ${span}` : `${span} ago`;
}

/** "12 s", "3 min", "5 h", "2 d". @param seconds 0 or more */
export function spanInWords(seconds: number): string {
  if (seconds < 2 * minuteS) return `${Math.round(seconds)} s`;
  if (seconds < 2 * hourS) return `${Math.round(seconds / minuteS)} min`;
  if (seconds < 2 * dayS) return `${Math.round(seconds / hourS)} h`;
  return `${Math.round(seconds / dayS)} d`;
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
