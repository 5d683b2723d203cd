import { DefaultLogger, Runtime } from '@temporalio/worker';
import { freePortClosedToBrowsers } from './embedded-temporal/free-port.js';
import type { ProcessLog } from './log.js';
import { request } from 'undici';

/**
 * Number of ports to try, because another program may take the free port before the SDK listens on it. Five times in a
 * row is practically impossible.
 */
const maxTries = 5;

/**
 * Configures the Temporal SDK to log warnings and errors with this process's log, and to ignore signals, because this
 * process shuts down in its own order. Call it once per process; a second call throws.
 * @param findPort returns a port of loopback for the SDK's metrics; called again if the port is taken. By default one
 *   that pages in a browser cannot reach, because the SDK does not check `Host`
 * @returns the loopback address (host and port) at which the SDK serves its metrics by workflow type and task queue
 */
export async function installRuntime(
  log: ProcessLog,
  findPort: () => Promise<number> = freePortClosedToBrowsers,
): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const address = `127.0.0.1:${await findPort()}`;
    try {
      Runtime.install(runtimeOptions(log, address));
      return address;
    } catch (error) {
      // Tries again after any error: a failed start leaves no runtime behind, and only the text of the SDK's error
      // shows that the port was taken.
      if (tries === maxTries) throw error;
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
        // Names follow Prometheus' conventions, as ours do.
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
 * Returns the Temporal SDK's metrics in Prometheus' text format.
 * @param address host and port; null: there are none
 * @throws if it does not answer
 */
export async function readTemporalMetrics(address: string | null): Promise<string> {
  if (address === null) return '';
  const options = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const { statusCode, body } = await request(`http://${address}/metrics`, options);
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`the Temporal SDK did not return its metrics (HTTP ${statusCode})`);
  // Without a line break, the next part could become part of a comment.
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
