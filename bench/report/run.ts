/** One contender's run. */
export interface Run {
  readonly contender: string;
  readonly items: number;
  /** From the first request of what is measured to the last commit. */
  readonly seconds: number;
  /** CPU seconds of the contender's process in that time. */
  readonly cpuSeconds: number;
  /** CPU seconds of the PostgreSQL server in that time; undefined if it used none. */
  readonly serverCpuSeconds?: number | undefined;
  /** Peak since the start of the process. */
  readonly peakRssMb: number;
  readonly requests: number;
}

export function itemsPerSecond({ items, seconds }: Run): number {
  return items / seconds;
}

/** A line for a person. */
export function formatRun(run: Run): string {
  const cells = [
    run.contender.padEnd(34),
    `${Math.round(itemsPerSecond(run)).toLocaleString('en').padStart(9)} items/s`,
    `${run.seconds.toFixed(2).padStart(7)} s`,
    `${run.cpuSeconds.toFixed(2).padStart(6)} CPU s`,
    ...(run.serverCpuSeconds === undefined ? [] : [`+ ${run.serverCpuSeconds.toFixed(2)} of the server`]),
    `${Math.round(run.peakRssMb).toString().padStart(5)} MB`,
    `${run.requests.toString().padStart(6)} requests`,
  ];
  return cells.join('  ');
}
