import { request } from 'undici';
import type { CheckLine } from '../sink.js';
import { failureSentence } from '../network/failure-sentence.js';
import type { Endpoint } from './deliver.js';

/**
 * Whether the receiver can be reached, asked with HEAD, which changes nothing there. Any answer below 500 counts, since
 * many receivers know only POST: whether it accepts the signature shows with the first change. Never throws.
 */
export async function checkReceiver(endpoint: Endpoint, signal: AbortSignal): Promise<CheckLine[]> {
  const { host } = endpoint.url;
  const call = new AbortController();
  const stop = (): void => call.abort();
  const timer = setTimeout(stop, endpoint.requestTimeoutMs);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    const answer = await request(endpoint.url, {
      method: 'HEAD',
      dispatcher: endpoint.dispatcher,
      signal: call.signal,
      headers: { 'user-agent': 'pigeonpost' },
    });
    answer.body.on('error', () => undefined).destroy();
    return [lineFor(host, answer.statusCode)];
  } catch (error) {
    if (!call.signal.aborted) return [{ ok: false, text: failureSentence(error, host) }];
    return [{ ok: false, text: `${host} did not answer within ${endpoint.requestTimeoutMs / 1000} s` }];
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
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
  if (status >= 500) return { ok: false, text: `${host} is reached but answers HTTP ${status}: look at the receiver` };
  return { ok: true, text: `${host} is reached; its signature check shows with the first change` };
}
