import { request } from 'undici';
import { failureSentence, lateSentence } from '../network/failure-sentence.js';
import { CutShort, withinDeadline } from '../network/within-deadline.js';
import type { CheckLine } from '../sink.js';
import type { Endpoint } from './deliver.js';

/**
 * Checks that the receiver can be reached, with HEAD, which changes nothing there. Any response below 500 counts,
 * because many receivers support only POST. Whether it accepts the signature shows only with the first change. Never
 * throws.
 */
export async function checkReceiver(endpoint: Endpoint, signal: AbortSignal): Promise<CheckLine[]> {
  const { url, dispatcher, requestTimeoutMs: timeoutMs } = endpoint;
  const { host } = url;
  try {
    return await withinDeadline(signal, timeoutMs, async (own) => {
      const answer = await request(url, {
        method: 'HEAD',
        dispatcher,
        signal: own,
        headers: { 'user-agent': 'pigeonpost' },
      });
      answer.body.on('error', () => undefined).destroy();
      return [lineFor(host, answer.statusCode)];
    });
  } catch (error) {
    const text = error instanceof CutShort ? lateSentence({ host, timeoutMs }) : failureSentence(error, host);
    return [{ ok: false, text }];
  }
}

function lineFor(host: string, status: number): CheckLine {
  if (status === 410)
    return { ok: false, text: `${host} answers HTTP 410, which asks to be sent nothing more: check "url"` };
  if (status >= 300 && status < 400) {
    return {
      ok: false,
      text: `${host} redirects (HTTP ${status}), which is not followed: put the final address into "url"`,
    };
  }
  if (status >= 500) return { ok: false, text: `${host} is reached but answers HTTP ${status}: check the receiver` };
  return { ok: true, text: `${host} is reached; its signature check shows with the first change` };
}
