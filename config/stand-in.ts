import { generateKeyPairSync } from 'node:crypto';
import { isLoopback } from './loopback.js';
import { Secret } from './secret.js';

/**
 * Takes the place of a secret in a configuration that somebody has sent: whatever uses it gets a text of the same form that
 * says nothing of the value. Only `compared` knows the value, so that the same secret is no change.
 */
export class StandIn extends Secret {
  readonly #value: string;
  readonly #isOfSameKey: boolean;

  /** @param isOfSameKey the running configuration has a key of the same schema here, so that a plain one may be read */
  constructor(value: string, { isOfSameKey }: { readonly isOfSameKey: boolean }) {
    super(textOfSameForm(value));
    this.#value = value;
    this.#isOfSameKey = isOfSameKey;
  }

  override compared(): string {
    return this.#value;
  }

  override revealPlain(): string {
    return this.#isOfSameKey ? this.#value : this.reveal();
  }
}

const plainStandIn = 'stand-in.0123456789-abcdefghijklmnopqrstuvwxyz';

/** What schemas of secrets look at: the form of a signing secret, of a key and of an address. */
function textOfSameForm(value: string): string {
  if (value.startsWith('whsec_')) return `whsec_${Buffer.alloc(32).toString('base64')}`;
  if (value.includes('PRIVATE KEY-----')) return privateKey();
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value) || !URL.canParse(value)) return plainStandIn;
  const { protocol, username, hostname, pathname } = new URL(value);
  const user = username === '' ? '' : 'stand-in:stand-in@';
  const host = isLoopback(hostname) ? '127.0.0.1' : 'stand-in.invalid';
  return `${protocol}//${user}${host}${pathname.length > 1 ? '/stand-in' : ''}`;
}

let madeKey: string | undefined;

/** One for the process: making it takes a tenth of a second. */
function privateKey(): string {
  madeKey ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
  return madeKey;
}
