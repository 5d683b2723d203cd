import { runWebhookReceiverCommand } from './run-webhook-receiver-command.js';

/**
 * Runs the receiver by itself: `node dist/sandbox/webhook-receiver/main.js --secret whsec_…`. Exit codes: 0 ended,
 * 1 failed, 2 wrong use.
 */
runWebhookReceiverCommand(process.argv.slice(2)).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    process.stderr.write(`webhook-receiver: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
