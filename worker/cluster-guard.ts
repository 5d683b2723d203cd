import type { Client } from '@temporalio/client';
import { type Ledger, bindCluster } from '../ledger/ledger.js';
import { LedgerError } from '../ledger/ledger-error.js';
import { unreachable } from './connect-temporal.js';

/** Time limit for an answer. A server that works answers much faster. */
const answerTimeoutMs = 5000;

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

  /** The reason why no workflow may be started, according to the last check that got an answer; null: none. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** The cluster's problem as a sentence for the operator, according to the last check; null: none. */
  get trouble(): string | null {
    return this.#refusal ?? this.#away;
  }

  /**
   * Checks that the ledger's own cluster answers.
   * @throws {LedgerError} kind `cluster` if another cluster answers
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
      if (this.trouble === null) throw error; // the store failed, not the cluster
    }
    return before !== null && this.trouble === null;
  }

  async #identify(): Promise<string> {
    try {
      const { clusterId } = await this.client.withDeadline(Date.now() + answerTimeoutMs, () =>
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
