import type { Collaborators, InUse } from '../work/collaborators.js';
import { LedgerError } from '../ledger/ledger-error.js';

/** What one configuration has opened. */
export interface Edition {
  readonly to: Collaborators;
  /** Closes its clients and sinks; called once, when nothing uses them any more. */
  close(): Promise<void>;
}

interface Counted extends Edition {
  users: number;
  isRetired: boolean;
}

/**
 * The collaborators of a running process, replaced as a whole when another configuration takes over. A turn keeps what
 * it began with; what was replaced is closed after the last turn that uses it.
 */
export class Editions implements InUse {
  #current: Counted;
  #closing: Promise<unknown> = Promise.resolve();
  /** Looks whether this process can take up the configuration that is current by now. Set once, before work begins. */
  catchUp: () => Promise<boolean> = () => Promise.resolve(false);

  constructor(
    first: Edition,
    private readonly onCloseFailure: (error: unknown) => void,
  ) {
    this.#current = { ...first, users: 0, isRetired: false };
  }

  get current(): Collaborators {
    return this.#current.to;
  }

  /** @throws what the work throws; when that is that another configuration is current, first tries to take that one up */
  async use<T>(work: (to: Collaborators) => Promise<T>): Promise<T> {
    try {
      return await this.#useOnce(work);
    } catch (error) {
      const isStale = error instanceof LedgerError && error.kind === 'configuration';
      if (isStale && (await this.catchUp())) return await this.#useOnce(work);
      throw error;
    }
  }

  /** From now on work begins with these; what has begun ends with its own. */
  replace(next: Edition): void {
    const before = this.#current;
    this.#current = { ...next, users: 0, isRetired: false };
    before.isRetired = true;
    this.#closeIfUnused(before);
  }

  /** Closes everything, once nothing can begin any more. */
  async close(): Promise<void> {
    this.#current.isRetired = true;
    this.#closeIfUnused(this.#current);
    await this.#closing;
  }

  async #useOnce<T>(work: (to: Collaborators) => Promise<T>): Promise<T> {
    const edition = this.#current;
    edition.users += 1;
    try {
      return await work(edition.to);
    } finally {
      edition.users -= 1;
      this.#closeIfUnused(edition);
    }
  }

  #closeIfUnused(edition: Counted): void {
    if (!edition.isRetired || edition.users > 0) return;
    const closing = edition.close().catch(this.onCloseFailure);
    this.#closing = Promise.all([this.#closing, closing]);
  }
}
