import { inspect } from 'node:util';
import { generateKeyPairSync } from 'node:crypto';
import { isLoopback } from './loopback.js';

/**
 * A text that must not be shown: an API key, a token, a URL with a password. If it is printed, logged or serialised, it
 * appears as `[secret]`. Only `reveal`, `revealPlain` and `compared` return the text, so that a search for them finds
 * every use.
 *
 * Every value from the environment or a file starts as a Secret. A key whose schema is `secret()` keeps it; for every
 * other key, the loader reveals it (parse-tree.ts).
 */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the text. Pass it to the call that needs it and store it nowhere else. */
  reveal(): string {
    return this.#text;
  }

  /** Returns the text for a keyed hash or a test of equality. */
  compared(): string {
    return this.#text;
  }

  /** Returns the text for a key that is not a secret. Only the loader calls it, because it knows the key's schema. */
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
 * Replaces a secret in a configuration sent to the API. Its text has the same form as the secret but does not depend on
 * it. Only `compared` returns the secret itself, so that an unchanged secret is not reported as a change.
 */
export class StandIn extends Secret {
  readonly #value: string;
  readonly #isOfSameKey: boolean;

  /**
   * @param isOfSameKey whether the running configuration has a key with the same meaning here, so that `revealPlain`
   * may return the real text
   */
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

/** Returns a text in the form that schemas of secrets check: a signing secret, a private key, a URL or any other. */
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

/** Created once per process, because it takes 100 ms. */
function privateKey(): string {
  madeKey ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
  return madeKey;
}
