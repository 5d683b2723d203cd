import { inspect } from 'node:util';
import { generateKeyPairSync } from 'node:crypto';
import { isLoopback } from './loopback.js';

/**
 * A text that must not be seen: an API key, a token, a URL with a password. Whatever prints, logs or serialises it
 * shows `[secret]`; only `reveal` gives the text, so that every use can be found by searching for that word.
 *
 * Every value that pigeonpost.yaml takes from the environment or from a file starts as a Secret. A key whose schema is
 * `secret()` keeps it; for every other key the loader reveals it (parse-tree.ts).
 */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself. Hand it to the call that needs it and keep it nowhere else. */
  reveal(): string {
    return this.#text;
  }

  /** The text for a comparison whose result is all that anyone sees: a keyed hash, or whether two are equal. */
  compared(): string {
    return this.#text;
  }

  /** The text for a key that holds no secret. Only the loader asks, which knows the key's schema. */
  revealPlain(): string {
    return this.reveal();
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

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
