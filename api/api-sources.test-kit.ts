import type { Config } from '../config/config.js';
import type { Secret } from '../config/secret.js';
import type { Ledger } from '../ledger/ledger.js';
import { deskOf } from '../importing/desk/desk.test-kit.js';
import { ProcessMeters } from './metrics/serve-metrics.js';
import type { ApiSources } from './api-app.js';
import { PageCodes } from './page-codes.js';

/**
 * Returns the sources of an idle process in which every action succeeds. A test overrides the sources that it is about.
 */
export function apiSources(given: Partial<ApiSources> & { readonly ledger: Ledger }): ApiSources {
  const notAsked = async (): Promise<never> => await Promise.reject(new Error('not asked for here'));
  return {
    config: emptyConfig({ host: '127.0.0.1', port: 0 }),
    configuration: 1,
    version: '0.0.0',
    trouble: () => null,
    quotas: async () => new Map(),
    starter: { start: async () => undefined, wakeReaders: () => undefined, wakeSinks: async () => undefined },
    act: async () => 'done',
    replay: async () => ({ unknown: 'no sink is known' }),
    canAudit: () => true,
    audit: async () => ({ lanes: 1 }),
    repair: async () => ({ findings: 1 }),
    planConfiguration: notAsked,
    preview: notAsked,
    applyConfiguration: notAsked,
    lookAtEvent: notAsked,
    applyEvent: notAsked,
    checkReady: notAsked,
    testSink: notAsked,
    imports: deskOf(),
    backup: null,
    meters: new ProcessMeters({ withNode: false }),
    temporalMetrics: async () => '',
    health: async () => [],
    alerts: {
      view: async () => ({ raised: [], receivers: [], when: [] }),
      receiverNames: async () => new Map(),
      test: async () => [],
    },
    page: new Map(),
    pageCodes: new PageCodes(),
    localToken: () => localToken,
    ...given,
  };
}

export function emptyConfig(server: { host: string; port: number; token?: Secret; publicUrl?: string }): Config {
  return { file: '/etc/pigeonpost.yaml', workspaces: {}, sinks: {}, syncs: {}, server } as unknown as Config;
}

/** Returns a ledger that accepts every statement and contains nothing. */
export function emptyLedger(query: () => Promise<unknown[]> = async () => [{ number: 1 }]): Ledger {
  return { db: { query }, clock: { nowMs: Date.now, confirm: () => undefined } } as unknown as Ledger;
}

/** The token that the installation created for itself. */
export const localToken = `pp_0123456789abcdef_${'x'.repeat(43)}`;

/** Headers of a client on this machine. */
export const fromHere = { host: '127.0.0.1', 'content-type': 'application/json' } as const;

/** Headers of the command line of the same user. */
export const asLocalUser = { ...fromHere, authorization: `Bearer ${localToken}` } as const;
