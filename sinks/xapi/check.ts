import type { CheckLine } from '../sink.js';
import { classifyAnswer } from './classify.js';
import { type Lrs, versionIn } from './client.js';

/** An id that no statement has, so that the request returns no data. */
const nobodysStatement = '00000000-0000-4000-8000-000000000000';

/**
 * Checks that the LRS answers, supports a known version, and accepts the credentials, by reading a statement that does
 * not exist. Whether the credentials may write is only known after the first statement. Never throws.
 */
export async function checkLrs(lrs: Lrs, signal: AbortSignal): Promise<CheckLine[]> {
  const about = await lrs.getAbout(signal);
  if (about.kind === 'silence') return [bad(about.detail)];
  const lines: CheckLine[] = [];
  if (about.status === 200) lines.push(versionLine(lrs.host, about.body));
  const answer = await lrs.getStatement('statementId', nobodysStatement, signal);
  if (answer.kind === 'silence') return [...lines, bad(answer.detail)];
  switch (answer.status) {
    case 404:
    case 200:
      return [...lines, { ok: true, text: `${lrs.host} accepts the credentials` }];
    case 401:
      return [
        ...lines,
        bad(`${lrs.host} refuses the credentials (HTTP 401): check "username" and "password", or "oauth"`),
      ];
    case 403:
      return [
        ...lines,
        bad(
          `the credentials may not read statements at ${lrs.host} (HTTP 403): allow it, so that statements under an id in use can be compared`,
        ),
      ];
    default: {
      const verdict = classifyAnswer(answer, []);
      return [...lines, bad(verdict.kind === 'failed' ? verdict.result.detail : `${lrs.host}: ${verdict.detail}`)];
    }
  }
}

function versionLine(host: string, body: unknown): CheckLine {
  const version = versionIn(body);
  if (version === undefined) return bad(`${host} does not report xAPI 1.0 or 2.0: check "endpoint"`);
  return { ok: true, text: `${host} is an LRS for xAPI ${version === '1.0.3' ? '1.0' : '2.0'}` };
}

function bad(text: string): CheckLine {
  return { ok: false, text };
}
