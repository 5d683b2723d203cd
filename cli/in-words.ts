const minuteS = 60;
const hourS = 60 * minuteS;
const dayS = 24 * hourS;

/** "12 s ago", "in 3 min", "just now": an instant as a person says it, in the unit that leaves at least two of them. */
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
