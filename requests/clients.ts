import type { Log } from '../base/log.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { liftChangedCredential, pausesOf } from '../ledger/pauses.js';
import { forgetRefusedKey } from '../ledger/workspaces.js';
import { createPigeonholeClient, type PigeonholeClient } from '../pigeonhole/client.js';
import type { ResponseFacts } from '../pigeonhole/connections.js';

/** A request to the service, for the metrics. */
export interface CountedRequest extends Omit<ResponseFacts, 'path' | 'quota'> {
  readonly workspace: string;
}

/** Called once for each request, whether or not the service responded. */
export type OnRequest = (request: CountedRequest) => void;

interface ClientSetting {
  readonly log?: Log | undefined;
  readonly onRequest?: OnRequest | undefined;
  /** Clock for the times of requests, epoch ms. Use the ledger's clock if they are stored. Default: the system's clock. */
  readonly now?: () => number;
}

/** Opens a client of the service for each workspace. The caller closes them. */
export function openClients(config: Config, setting: ClientSetting): Map<string, PigeonholeClient> {
  return new Map(Object.keys(config.workspaces).map((name) => [name, createWorkspaceClient(config, name, setting)]));
}

export function createWorkspaceClient(
  config: Config,
  name: string,
  { log, onRequest, now }: ClientSetting = {},
): PigeonholeClient {
  const { baseUrl, apiKey } = config.workspaces[name]!;
  const { proxy, noProxy, ca, maxAnswerMb } = config.network;
  return createPigeonholeClient({
    baseUrl,
    apiKey: apiKey.reveal(),
    proxy: proxy?.reveal(),
    noProxy,
    ca,
    ...(now !== undefined && { now }),
    maxResponseBytes: maxAnswerMb * 1024 * 1024,
    onResponse: ({ kind, method, path, status, code, requestId, durationMs }) => {
      onRequest?.({ workspace: name, method, status, code, kind, requestId, durationMs });
      if (kind === null) return;
      log?.debug({ workspace: name, kind, method, path, status, code, requestId, durationMs }, 'request failed');
    },
  });
}

/** Resumes workspaces whose refused API key was replaced in the configuration. */
export async function liftRefusedKeys(config: Config, ledger: Ledger): Promise<void> {
  for (const [name, { apiKey }] of Object.entries(config.workspaces)) {
    await liftChangedCredential(ledger, 'workspace', name, ledger.hash.fingerprint(apiKey.reveal()));
    const pauses = await pausesOf(ledger, [{ scope: 'workspace', name }]);
    if (pauses.every(({ cause }) => cause !== 'credential')) await forgetRefusedKey(ledger, name);
  }
}
