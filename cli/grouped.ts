/** 12,345: a number that a person reads at a glance. */
export function grouped(n: number): string {
  return n.toLocaleString('en-US');
}
