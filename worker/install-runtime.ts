import { DefaultLogger, Runtime } from '@temporalio/worker';
import { freePort } from './embedded-temporal/free-port.js';
import type { ProcessLog } from './log.js';

/**
 * Makes the Temporal SDK log as this process does, from warnings on, and leaves signals to us: shutting down has an
 * order that the SDK does not know. Once per process; a second call would throw, so it belongs to the commands.
 * @returns host and port of loopback at which the SDK shows what it counts: numbers by workflow type and task queue
 */
export async function installRuntime(log: ProcessLog): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`;
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      const { error, workflowId, activityType, attempt } = (meta ?? {}) as Record<string, unknown>;
      const facts = { workflowId, activityType, attempt, error: error instanceof Error ? error.message : undefined };
      log[level === 'ERROR' ? 'error' : 'warn'](facts, `temporal: ${message}`);
    }),
    telemetryOptions: {
      logging: { forward: {}, filter: 'temporalio_sdk_core=WARN,temporalio_client=WARN' },
      metrics: {
        // Names as Prometheus' conventions have them, so that none meets one of ours.
        prometheus: { bindAddress: address, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true },
      },
    },
    shutdownSignals: [],
  });
  return address;
}
