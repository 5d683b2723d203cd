import type { Decision, HeldDeletions } from '../api/deletions.js';
import type { Action } from '../api/start-api.js';
import type { Status } from '../api/status.js';
import type { Config } from '../worker/load-process-config.js';
import { CommandError, ExitCode } from './exit-code.js';

/** The HTTP API of a running pigeonpost, as commands use it. */
export interface ApiClient {
  status(options: { counts: boolean }): Promise<Status>;
  act(action: Action): Promise<void>;
  deletions(): Promise<{ held: HeldDeletions[] }>;
  heldDeletions(id: number): Promise<HeldDeletions>;
  decideDeletions(id: number, decision: Decision): Promise<{ items: number }>;
}

/** A client of the API that this configuration's `start` serves. */
export function apiClientFor({ server }: Config): ApiClient {
  return apiClient(
    `http://${server.host.includes(':') ? `[${server.host}]` : server.host}:${server.port}`,
    server.token?.reveal(),
  );
}

/** 503 is what `start` answers until it serves: as if nothing could be reached yet. */
function exitCodeFor(status: number): ExitCode {
  if (status === 404) return ExitCode.NotFound;
  return status === 503 ? ExitCode.Unreachable : ExitCode.Failed;
}

export function apiClient(url: string, token?: string): ApiClient {
  const ask = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const headers = {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const answer = await fetch(`${url}${path}`, { ...init, headers, signal: AbortSignal.timeout(30_000) }).catch(
      (error: unknown) => {
        throw new CommandError(
          ExitCode.Unreachable,
          `no pigeonpost answers at ${url}: start it with "pigeonpost start", or check server.host and server.port`,
          { cause: error },
        );
      },
    );
    const body: unknown = await answer.json().catch(() => undefined);
    if (answer.ok) return body;
    const title =
      typeof body === 'object' && body !== null && 'title' in body ? String(body.title) : `HTTP ${answer.status}`;
    throw new CommandError(exitCodeFor(answer.status), title);
  };
  return {
    status: async ({ counts }) => (await ask(`/api/status${counts ? '?counts' : ''}`)) as Status,
    act: async (action) => {
      await ask('/api/actions', { method: 'POST', body: JSON.stringify(action) });
    },
    deletions: async () => (await ask('/api/deletions')) as { held: HeldDeletions[] },
    heldDeletions: async (id) => (await ask(`/api/deletions/${id}`)) as HeldDeletions,
    decideDeletions: async (id, decision) =>
      (await ask(`/api/deletions/${id}`, { method: 'POST', body: JSON.stringify(decision) })) as { items: number },
  };
}
