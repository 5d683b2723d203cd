import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { findToken } from '../ledger/tokens.js';
import { administratorsToken, type AccessSources } from './authenticate.js';
import type { ApiApp } from './api-app.js';
import { challengeForm, type InstanceAnswer, prove, realPath, storeName } from './instance-proof.js';
import { Refused } from './problem.js';
import { hashToken, tokenIdOf } from './token-text.js';

export interface InstanceSources extends AccessSources {
  readonly version: string;
}

/**
 * `GET /instance?challenge=…`: which pigeonpost this is, for a client that has not sent its token yet and must not send it to
 * another one. It names no person, no event and no path.
 */
export function serveInstance(app: ApiApp, sources: InstanceSources): void {
  app.get('/instance', async (c) => {
    const challenge = c.req.query('challenge') ?? '';
    const id = c.req.query('token');
    if (!challengeForm.test(challenge) || (id !== undefined && !/^[0-9a-f]{16}$/.test(id))) {
      throw new Refused(
        400,
        'write "challenge" (32 to 64 random characters of base64url) and, for a named token, "token"',
      );
    }
    const { config, ledger, version } = sources;
    const key = await tokenHash(sources, id);
    const answer: InstanceAnswer = {
      pigeonpost: version,
      ledger: ledger.id,
      proof: prove(key, challenge, 'ledger', ledger.id),
      store: prove(key, challenge, 'store', storeName(config.store)),
      file: prove(key, challenge, 'file', realPath(config.file)),
    };
    return c.json(answer);
  });
}

/** Of a token that is not known, the hash of nothing that anybody has: the answer then proves nothing. */
async function tokenHash(
  sources: AccessSources & { config: Config; ledger: Ledger },
  id: string | undefined,
): Promise<Buffer> {
  const own = administratorsToken(sources);
  if (id === undefined || tokenIdOf(own) === id) return hashToken(own);
  return (await findToken(sources.ledger, id))?.hash ?? hashToken(`unknown ${sources.ledger.id}`);
}
