import type { ApiApp } from './api-app.js';

/** What a process needs, to do what others ask of it. */
export interface PartHealth {
  readonly part: 'store' | 'temporal' | 'worker';
  readonly ready: boolean;
}

export interface HealthSources {
  /** Each part by itself; never throws, and takes some seconds at most. */
  readonly health: () => Promise<readonly PartHealth[]>;
}

/** The parts that are not ready. */
export async function lacksOf({ health }: HealthSources): Promise<string[]> {
  return (await health()).filter(({ ready }) => !ready).map(({ part }) => part);
}

/**
 * `GET /healthz`: the process answers. `GET /readyz`: it can do its work, too (a worker), or its store answers (who serves the
 * API); else 503, with what it lacks. Asked by machines
 * that have no token and may call this host what they like, so they tell nothing else.
 */
export function serveHealth(app: ApiApp, sources: HealthSources): void {
  app.get('/healthz', (c) => c.text('ok'));
  app.get('/readyz', async (c) => {
    const lacks = await lacksOf(sources);
    return lacks.length === 0 ? c.text('ok') : c.text(`not ready: ${lacks.join(', ')}`, 503);
  });
}
