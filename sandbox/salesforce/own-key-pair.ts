import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';

let pair: KeyPairKeyObjectResult | undefined;

/** The key pair of doubles that were given none: one a process, since making one may take a second. */
export function ownKeyPair(): KeyPairKeyObjectResult {
  pair ??= generateKeyPairSync('rsa', { modulusLength: 2048 });
  return pair;
}
