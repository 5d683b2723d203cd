import { apiHeaders } from '../kit/api-headers.js';
import { control } from './control.js';
import type { Stage } from './stage.js';

/** Returns whether the product reports that everything is read and settled; false while it is down. */
export async function isSettled({ apiUrl, folder }: Stage): Promise<boolean> {
  try {
    const answer = await fetch(`${apiUrl}/api/status`, {
      headers: apiHeaders(folder),
      signal: AbortSignal.timeout(60_000),
    });
    return answer.ok && ((await answer.json()) as { settled: boolean }).settled;
  } catch {
    return false;
  }
}

/** Requests `pigeonpost poll-now` or `sweep` for every pigeonhole. Does nothing while the product is down. */
export async function askFor(what: 'poll-now' | 'sweep', { apiUrl, sandboxUrl, folder }: Stage): Promise<void> {
  const { pigeonholes } = await control<{ pigeonholes: { id: number }[] }>(sandboxUrl, 'GET', 'state');
  const scopes = [
    { kind: 'workspace', name: 'acme' },
    ...pigeonholes.map(({ id }) => ({ kind: 'pigeonhole', name: `acme/${id}` })),
  ];
  for (const scope of scopes) {
    await fetch(`${apiUrl}/api/actions`, {
      method: 'POST',
      headers: apiHeaders(folder),
      body: JSON.stringify({ do: what, ...scope }),
      signal: AbortSignal.timeout(5000),
    }).catch(() => undefined);
  }
}
