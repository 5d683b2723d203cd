import type { ProbeSources, ApiApp, ApiContext, ApiEnvironment } from '../api-app.js';
import type { MiddlewareHandler } from 'hono';
import { alertFigures, importFigures, sweepStates } from '../../operations/ledger-status.js';
import { Refused } from '../problem.js';
import { requireEveryWorkspace } from '../scope.js';
import { readSnapshot } from '../../operations/read-status.js';
import { formatFigures, ledgerFigures } from './ledger-figures.js';
import type { ProcessMeters } from './process-meters.js';

/** The ledger is read at most this often, whatever the number of scrapers. */
const rememberForMs = 1000;

/** Counts the responses of the API. */
export function countAnswers(meters: ProcessMeters): MiddlewareHandler<ApiEnvironment> {
  return async (c, next) => {
    await next();
    meters.answered(c.req.method, c.res.status);
  };
}

/** `GET /metrics`: the metrics of this process, of the ledger, and of the Temporal SDK. Requires the right `read`. */
export function serveMetrics(app: ApiApp, sources: ProbeSources): void {
  const ledgerText = remembered(() => readLedgerText(sources));
  app.get('/metrics', async (c) => {
    requireEveryWorkspace(c as ApiContext);
    if (!c.get('caller').rights.has('read')) throw new Refused(403, 'this token may not read the state of the work');
    const [ofLedger, ofProcess, ofTemporal] = await Promise.all([
      ledgerText().then(
        (text) => `${text}${storeUp(1)}`,
        () => storeUp(0), // operators need this process's own metrics most when the store does not answer
      ),
      sources.meters.text(),
      sources.temporalMetrics().catch(() => ''),
    ]);
    return c.text(`${ofLedger}${ofProcess}${ofTemporal}`, 200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    });
  });
}

function storeUp(value: 0 | 1): string {
  const help = '1 when the figures of the ledger could be read.';
  return formatFigures([{ name: 'pigeonpost_store_up', help, type: 'gauge', samples: [{ labels: {}, value }] }]);
}

async function readLedgerText(sources: ProbeSources): Promise<string> {
  const { ledger, config, version } = sources;
  const [{ status, snapshot, places }, sweeps, imports, alerts] = await Promise.all([
    readSnapshot(sources, false, null),
    sweepStates(ledger),
    importFigures(ledger),
    alertFigures(ledger),
  ]);
  const { now, lanes } = snapshot;
  return formatFigures(ledgerFigures({ now, version, config, status, lanes, places, sweeps, imports, alerts }));
}

/** Shares one result among all requests within a short time. A failure is not cached. */
function remembered(read: () => Promise<string>): () => Promise<string> {
  let last: { readonly text: Promise<string>; readonly untilMs: number } | undefined;
  return () => {
    if (last !== undefined && last.untilMs > performance.now()) return last.text;
    const text = read();
    last = { text, untilMs: performance.now() + rememberForMs };
    text.catch(() => {
      last = undefined;
    });
    return text;
  };
}
