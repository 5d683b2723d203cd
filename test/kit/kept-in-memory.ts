import type { KeptCredential, KeptCredentials } from '../../sinks/sink.js';

/** Stores credentials like the ledger, for tests of a single sink. The content outlives each sink. */
export class KeptInMemory {
  readonly #rows = new Map<string, { version: number; text: string | null; claim?: { by: number; untilMs: number } }>();
  #openers = 0;
  /** Number of the next writes that fail, as if the database did not answer. */
  failingReplaces = 0;

  constructor(private readonly now: () => number) {}

  /** All stored data as texts. */
  get texts(): string[] {
    return [...this.#rows.values()].flatMap(({ text }) => (text === null ? [] : [text]));
  }

  /** Opens the credentials as another process would. */
  open(): KeptCredentials {
    this.#openers += 1;
    const by = this.#openers;
    return {
      nowMs: this.now,
      read: async (name): Promise<KeptCredential | undefined> => this.#rows.get(name),
      claim: async (name, forMs) => {
        const row = this.#rows.get(name) ?? { version: 0, text: null };
        this.#rows.set(name, row);
        if (row.claim !== undefined && row.claim.untilMs > this.now()) return undefined;
        row.claim = { by, untilMs: this.now() + forMs };
        return { version: row.version, text: row.text };
      },
      replace: async (name, version, text) => {
        if (this.failingReplaces > 0) {
          this.failingReplaces -= 1;
          throw new Error('the database does not answer');
        }
        if (this.#rows.get(name)?.version !== version) return false;
        this.#rows.set(name, { version: version + 1, text });
        return true;
      },
      release: async (name) => {
        const row = this.#rows.get(name);
        if (row?.claim?.by === by) delete row.claim;
      },
    };
  }
}
