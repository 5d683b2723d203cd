import { readdirSync, readFileSync } from 'node:fs';

/** Of Linux on every architecture that Node runs on (sysconf(_SC_CLK_TCK)). */
const ticksPerSecond = 100;

/** CPU seconds that a process has used since its start, its threads included. @throws where /proc has no such process */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The second field is the program's name in brackets, which may hold anything; the rest is separated by spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** The most memory that a process ever had resident. @throws where /proc has no such process */
export function peakRssMbOf(pid: number): number {
  const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(line?.[1]) / 1024;
}

/** CPU seconds of a process and of the children that it has now: a PostgreSQL server's connections are processes. */
export function cpuSecondsOfFamily(pid: number): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
  );
  return children.reduce((sum, child) => sum + cpuSecondsOf(child), cpuSecondsOf(pid));
}
