import type { Client } from '@temporalio/client';
import { type Ledger, bindCluster } from '../ledger/ledger.js';
import { LedgerError } from '../ledger/ledger-error.js';
import { unreachable } from './connect-temporal.js';

/** Much longer than a server that is up takes. */
const withinMs = 5000;

/**
 * Compares the Temporal cluster behind the connection with the one that drives the ledger. After a restore, a failover
 * or a DNS change, another cluster may answer at the same address without this process noticing. An empty cluster would
 * receive every workflow again while the first cluster still runs them.
 */
export class ClusterGuard {
  #refusal: string | null = null;
  #away: string | null = null;

  constructor(
    private readonly ledger: Pick<Ledger, 'db'>,
    private readonly client: Pick<Client, 'workflowService' | 'withDeadline'>,
    private readonly terms: { readonly address: string; readonly namespace: string; readonly adopt: boolean },
  ) {}

  /** The reason why nothing may be started, from the last check that was answered; null: none. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** The cluster's problem for an operator, from the last check; null: none. */
  get trouble(): string | null {
    return this.#refusal ?? this.#away;
  }

  /**
   * @throws {LedgerError} kind `cluster` if another cluster than the ledger's answers
   * @throws {TemporalUnreachableError} if none answers
   */
  async check(): Promise<void> {
    const clusterId = await this.#identify();
    const { namespace, adopt } = this.terms;
    try {
      await bindCluster(this.ledger, { clusterId, namespace, adopt });
      this.#refusal = null;
    } catch (error) {
      if (error instanceof LedgerError && error.kind === 'cluster') this.#refusal = error.message;
      throw error;
    }
  }

  /**
   * Like `check`, but stores a problem of the cluster in `trouble` instead of throwing it.
   * @returns whether this check found that the cluster can be used again
   */
  async look(): Promise<boolean> {
    const before = this.trouble;
    try {
      await this.check();
    } catch (error) {
      if (this.trouble === null) throw error; // the store
    }
    return before !== null && this.trouble === null;
  }

  async #identify(): Promise<string> {
    try {
      const { clusterId } = await this.client.withDeadline(Date.now() + withinMs, () =>
        this.client.workflowService.getClusterInfo({}),
      );
      this.#away = null;
      return clusterId;
    } catch (error) {
      const failure = unreachable(this.terms.address, error);
      this.#away = failure.message;
      throw failure;
    }
  }
}
