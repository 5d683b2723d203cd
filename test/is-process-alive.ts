import { readFileSync } from 'node:fs';

/** Whether a process runs. A zombie, which has ended and waits for its parent, does not. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return process.platform !== 'linux'; // other systems lack this file; on Linux, the process has just ended
  }
}
