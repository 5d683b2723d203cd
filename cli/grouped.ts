/** 12,345: a number that a person reads at a glance. */
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
