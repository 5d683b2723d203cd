import type { Client } from '@temporalio/client';
import { type Ledger, bindCluster } from '../ledger/ledger.js';
import { LedgerError } from '../ledger/ledger-error.js';

/**
 * Compares the Temporal cluster behind the connection with the one that drives the ledger. A connection is an address:
 * after a restore, a failover or a change of DNS another cluster may answer there, without this process noticing. One
 * that is empty would be given every workflow anew, beside those of the first.
 */
export class ClusterGuard {
  #refusal: string | null = null;

  constructor(
    private readonly ledger: Pick<Ledger, 'db'>,
    private readonly client: Pick<Client, 'workflowService'>,
    private readonly terms: { readonly namespace: string; readonly adopt: boolean },
  ) {}

  /** Why nothing may be started; null: it may. As of the last check. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** @throws {LedgerError} kind `cluster` when another cluster answers than the one that drives the ledger */
  async check(): Promise<void> {
    const { clusterId } = await this.client.workflowService.getClusterInfo({});
    try {
      await bindCluster(this.ledger, { clusterId, ...this.terms });
      this.#refusal = null;
    } catch (error) {
      if (error instanceof LedgerError && error.kind === 'cluster') this.#refusal = error.message;
      throw error;
    }
  }
}
