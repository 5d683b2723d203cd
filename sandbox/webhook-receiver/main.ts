import { runWebhookReceiverCommand } from './run-webhook-receiver-command.js';

/**
 * Runs the receiver as a program: `node dist/sandbox/webhook-receiver/main.js --secret whsec_…`. Exit codes: 0 stopped,
 * 1 failed, 2 wrong arguments.
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
