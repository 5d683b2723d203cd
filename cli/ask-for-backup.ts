import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { CommandError, ExitCode } from './exit-code.js';
import { refusalOf } from './api-client.js';
import { type ApiAddress, nobodyAnswers, requestOf } from './find-instance.js';

/**
 * The embedded store of a running pigeonpost, piece by piece. By node:http: `fetch` has limits of its own for answers that
 * take long.
 * @throws {CommandError}, also while it is read, when the process ends in the middle or cannot go on
 */
export async function askForBackup({ url, token }: ApiAddress): Promise<AsyncIterable<Uint8Array>> {
  const asked = requestOf(url)(`${url}/api/backup`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
  asked.end();
  let answer: IncomingMessage;
  try {
    [answer] = (await once(asked, 'response')) as [IncomingMessage];
  } catch (error) {
    throw nobodyAnswers(url, error);
  }
  if (answer.statusCode === 200) return whole(answer);
  throw refusalOf(answer.statusCode ?? 0, await json(answer).catch(() => undefined));
}

/** An answer that breaks off is the process's doing, and not that of the file into which it goes. */
async function* whole(answer: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const bytes of answer) yield bytes as Uint8Array;
  } catch (error) {
    throw new CommandError(
      ExitCode.Failed,
      'the running pigeonpost broke the backup off, so that there is none: see its log, and that its disk has room for a copy of the store',
      { cause: error },
    );
  }
}
