import { execFile } from 'node:child_process';

/** The first server whose development mode has all that we start it with and use. Ours is built as 1.31. */
const oldestServer = [1, 27] as const;

/** What a program called `temporal` turned out to be. */
export type ServerCheck = { readonly isUsable: true } | { readonly isUsable: false; readonly why: string };

/** Asks a `temporal` program for its version. A download that was cut, or one of another machine, does not answer. */
export async function checkServer(binary: string): Promise<ServerCheck> {
  const output = await new Promise<string | undefined>((resolve) => {
    execFile(binary, ['--version'], { timeout: 15_000, env: {} }, (error, stdout) =>
      resolve(error === null ? stdout : undefined),
    );
  });
  // temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)
  const [, major, minor] = /\(Server (\d+)\.(\d+)/.exec(output ?? '') ?? [];
  if (major === undefined || minor === undefined) return { isUsable: false, why: 'it does not run, or is no Temporal' };
  const [oldestMajor, oldestMinor] = oldestServer;
  const isOld = Number(major) < oldestMajor || (Number(major) === oldestMajor && Number(minor) < oldestMinor);
  return isOld
    ? { isUsable: false, why: `its server ${major}.${minor} is older than ${oldestServer.join('.')}` }
    : { isUsable: true };
}
