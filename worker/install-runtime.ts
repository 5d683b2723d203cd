import { DefaultLogger, Runtime } from '@temporalio/worker';
import { freePort } from './embedded-temporal/free-port.js';
import type { ProcessLog } from './log.js';
import { request } from 'undici';

/** Between the look for a free port and the listening another program may take it; five times in a row none does. */
const mostTries = 5;

/**
 * Makes the Temporal SDK log as this process does, from warnings on, and leaves signals to us: shutting down has an
 * order that the SDK does not know. Once per process; a second call would throw, so it belongs to the commands.
 * @param findPort a port of loopback for the SDK's numbers; asked again when somebody was faster at the one it gave
 * @returns host and port of loopback at which the SDK shows what it counts: numbers by workflow type and task queue
 */
export async function installRuntime(log: ProcessLog, findPort: () => Promise<number> = freePort): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const address = `127.0.0.1:${await findPort()}`;
    try {
      Runtime.install(runtimeOptions(log, address));
      return address;
    } catch (error) {
      // Whatever it was: a failed start leaves no runtime behind, and the SDK tells a taken port by its text alone.
      if (tries === mostTries) throw error;
    }
  }
}

function runtimeOptions(log: ProcessLog, metricsAddress: string): Parameters<typeof Runtime.install>[0] {
  return {
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      const { error, workflowId, activityType, attempt } = (meta ?? {}) as Record<string, unknown>;
      const facts = { workflowId, activityType, attempt, error: error instanceof Error ? error.message : undefined };
      log[level === 'ERROR' ? 'error' : 'warn'](facts, `temporal: ${message}`);
    }),
    telemetryOptions: {
      logging: { forward: {}, filter: 'temporalio_sdk_core=WARN,temporalio_client=WARN' },
      metrics: {
        // Names as Prometheus' conventions have them, so that none meets one of ours.
        prometheus: {
          bindAddress: metricsAddress,
          countersTotalSuffix: true,
          unitSuffix: true,
          useSecondsForDurations: true,
        },
      },
    },
    shutdownSignals: [],
  };
}

const timeoutMs = 3000;

/**
 * What the Temporal SDK counts, in Prometheus' text format.
 * @param address host and port; null: it counts nothing
 * @throws when it does not answer
 */
export async function readTemporalMetrics(address: string | null): Promise<string> {
  if (address === null) return '';
  const options = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const { statusCode, body } = await request(`http://${address}/metrics`, options);
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`the metrics of the Temporal SDK are not shown (HTTP ${statusCode})`);
  // A comment that the next part follows on the same line would swallow it.
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
