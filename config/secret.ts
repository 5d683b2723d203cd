import { inspect } from 'node:util';

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
