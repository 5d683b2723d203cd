import type { ApiApp } from './api-app.js';

/** What a process needs, to do its work. */
export interface Readiness {
  readonly part: 'store' | 'temporal' | 'worker';
  readonly ready: boolean;
}

export interface ReadinessSources {
  /** Each part by itself; never throws, and takes some seconds at most. */
  readonly readiness: () => Promise<readonly Readiness[]>;
}

/**
 * `GET /healthz`: the process answers. `GET /readyz`: it can work, too; else 503, with what it lacks. Asked by machines
 * that have no token and may call this host what they like, so they tell nothing else.
 */
export function serveReadiness(app: ApiApp, { readiness }: ReadinessSources): void {
  app.get('/healthz', (c) => c.text('ok'));
  app.get('/readyz', async (c) => {
    const lacks = (await readiness()).filter(({ ready }) => !ready).map(({ part }) => part);
    return lacks.length === 0 ? c.text('ok') : c.text(`not ready: ${lacks.join(', ')}`, 503);
  });
}
