import { readFileSync } from 'node:fs';

/** Whether a process runs. One that has ended and waits for a parent to notice (a zombie) does not. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return process.platform !== 'linux'; // there is no such file elsewhere; on Linux it went away just now
  }
}
