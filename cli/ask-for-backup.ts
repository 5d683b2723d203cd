import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { type ApiAddress, nobodyAnswers, refusalOf } from './api-client.js';

/**
 * The embedded store of a running pigeonpost, piece by piece. By node:http: `fetch` has limits of its own for answers that
 * take long.
 * @throws {CommandError}; while it is read, whatever breaks it off
 */
export async function askForBackup({ url, token }: ApiAddress): Promise<AsyncIterable<Uint8Array>> {
  const asked = request(`${url}/api/backup`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
  asked.end();
  let answer: IncomingMessage;
  try {
    [answer] = (await once(asked, 'response')) as [IncomingMessage];
  } catch (error) {
    throw nobodyAnswers(url, error);
  }
  if (answer.statusCode === 200) return answer;
  throw refusalOf(answer.statusCode ?? 0, await json(answer).catch(() => undefined));
}
