import type { Client } from '@temporalio/client';
import { type Ledger, bindCluster } from '../ledger/ledger.js';
import { LedgerError } from '../ledger/ledger-error.js';
import { unreachable } from './connect-temporal.js';

/** A server that answers does so much faster. */
const withinMs = 5000;

/**
 * Compares the Temporal cluster behind the connection with the one that drives the ledger. A connection is an address:
 * after a restore, a failover or a change of DNS another cluster may answer there, without this process noticing. One
 * that is empty would be given every workflow anew, beside those of the first.
 */
export class ClusterGuard {
  #refusal: string | null = null;
  #away: string | null = null;

  constructor(
    private readonly ledger: Pick<Ledger, 'db'>,
    private readonly client: Pick<Client, 'workflowService' | 'withDeadline'>,
    private readonly terms: { readonly address: string; readonly namespace: string; readonly adopt: boolean },
  ) {}

  /** Why nothing may be started; null: it may. As of the last check that was answered. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** What an operator has to know about the cluster; null: nothing. As of the last check. */
  get trouble(): string | null {
    return this.#refusal ?? this.#away;
  }

  /**
   * @throws {LedgerError} kind `cluster` when another cluster answers than the one that drives the ledger
   * @throws {TemporalUnreachableError} when none answers
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
   * Like `check`, but leaves what is wrong with the cluster in `trouble` and does not throw it.
   * @returns whether the cluster can be used again since this check
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
