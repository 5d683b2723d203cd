import type { AccessSources, ApiSources, ApiApp } from './api-app.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { findToken } from '../ledger/tokens.js';
import { administratorsToken } from './authenticate.js';
import { Refused } from './problem.js';
import { hashToken, tokenIdOf } from './credentials.js';
import { type InstanceAnswer, prove, realPath, storeName } from './instance-proof.js';

/**
 * `GET /instance?challenge=…` proves which pigeonpost this is. Clients call it before they send their token, because
 * they must not send it to another process. The answer names no person, no event and no path.
 */
export function serveInstance(app: ApiApp, sources: ApiSources): void {
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

/**
 * Returns the hash of the named token, or of the administrator's token if none is named. For an unknown token, it
 * returns a hash that no token has, so the proof is invalid.
 */
async function tokenHash(
  sources: AccessSources & { config: Config; ledger: Ledger },
  id: string | undefined,
): Promise<Buffer> {
  const own = administratorsToken(sources);
  if (id === undefined || tokenIdOf(own) === id) return hashToken(own);
  return (await findToken(sources.ledger, id))?.hash ?? hashToken(`unknown ${sources.ledger.id}`);
}

/** Random text from the command. The proof is valid for this one request. */
const challengeForm = /^[A-Za-z0-9_-]{32,64}$/;
