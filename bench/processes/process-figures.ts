import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second of Linux, the same on every architecture that Node runs on (sysconf(_SC_CLK_TCK)). */
const ticksPerSecond = 100;
/** At a family whose members come and go. */
const maxAttempts = 10;

/** CPU seconds that a process has used since its start, its threads included. @throws where /proc has no such process */
export function cpuSecondsOf(pid: number): number {
  return cpuTimes(pid).own;
}

/** The most memory that a process ever had resident. @throws where /proc has no such process */
export function peakRssMbOf(pid: number): number {
  const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(line?.[1]) / 1024;
}

/** CPU seconds of a process and of its children, gone or not: a PostgreSQL server's connections are processes. */
export function cpuSecondsOfFamily(pid: number): number {
  // A child that ends while we look is counted with its parent's ended ones the next time.
  for (let attempts = 1; ; attempts += 1) {
    try {
      return lookAtFamily(pid);
    } catch (error) {
      if (attempts === maxAttempts) throw error;
    }
  }
}

function lookAtFamily(pid: number): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
  );
  const { own, ofEndedChildren } = cpuTimes(pid);
  return children.reduce((sum, child) => sum + cpuTimes(child).own, own + ofEndedChildren);
}

function cpuTimes(pid: number): { own: number; ofEndedChildren: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The second field is the program's name in brackets, which may hold anything; the rest is separated by spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number);
  return { own: (user + system) / ticksPerSecond, ofEndedChildren: (childUser + childSystem) / ticksPerSecond };
}
