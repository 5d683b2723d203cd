/** "1 session", "20,000 sessions". */
export function countOf(n: number, what: string): string {
  return `${n.toLocaleString('en-US')} ${what}${n === 1 ? '' : 's'}`;
}
