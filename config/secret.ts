import { inspect } from 'node:util';

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
