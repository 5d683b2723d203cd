import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const endTimeoutMs = 5000;

/**
 * Kills a server that still uses a database file, of a process that is gone. Its guard should have ended it; two
 * servers on one file start without complaint and fight, so this looks once more. Only a process whose command line
 * names the file is touched, since the number may have been given to another by now.
 * @param pidFile what the last start wrote
 */
export async function endStaleServer(pidFile: string, databaseFile: string): Promise<void> {
  const pid = readPid(pidFile);
  if (pid === undefined || !commandLineOf(pid).includes(databaseFile)) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return; // it ended by itself just now
  }
  const end = Date.now() + endTimeoutMs;
  while (commandLineOf(pid).includes(databaseFile)) {
    if (Date.now() > end)
      throw new Error(`process ${pid} still uses ${databaseFile} and cannot be ended: end it first`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function readPid(pidFile: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8').trim());
    return Number.isInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined; // the first start in this folder
  }
}

/** Empty when there is no such process, or it has ended and only its number is left. */
function commandLineOf(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}
