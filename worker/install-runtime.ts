import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { ProcessLog } from './log.js';

/**
 * Makes the Temporal SDK log as this process does, from warnings on, and leaves signals to us: shutting down has an
 * order that the SDK does not know. Once per process; a second call would throw, so it belongs to the commands.
 */
export function installRuntime(log: ProcessLog): void {
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      const { error, workflowId, activityType, attempt } = (meta ?? {}) as Record<string, unknown>;
      const facts = { workflowId, activityType, attempt, error: error instanceof Error ? error.message : undefined };
      log[level === 'ERROR' ? 'error' : 'warn'](facts, `temporal: ${message}`);
    }),
    telemetryOptions: { logging: { forward: {}, filter: 'temporalio_sdk_core=WARN,temporalio_client=WARN' } },
    shutdownSignals: [],
  });
}
