import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { runWebhookReceiver, type WebhookReceiverOptions } from './run-webhook-receiver.js';

const USAGE = 'usage: webhook-receiver --secret whsec_… [--secret whsec_…] [--port N] [--log FILE] [--help]';

interface CommandOutput {
  readonly line: (text: string) => void;
  readonly error: (text: string) => void;
}

/**
 * Runs the receiver as a command until `stop` (by default SIGTERM or SIGINT). Prints one line with its URL when it is
 * ready. Use test secrets only: other users of the machine can see a secret on a command line.
 * @returns the exit code: 0 stopped, 1 port or log not available, 2 wrong arguments
 */
export async function runWebhookReceiverCommand(
  argv: readonly string[],
  stop: AbortSignal = stopOnSignal(),
  output: CommandOutput = processOutput,
): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    output.line(USAGE);
    return 0;
  }
  const options = optionsFrom(argv);
  if (typeof options === 'string') {
    output.error(`webhook-receiver: ${options}; ${USAGE}`);
    return 2;
  }
  try {
    const receiver = await runWebhookReceiver(options);
    output.line(`webhook receiver ready at ${receiver.url}`);
    if (!stop.aborted) await once(stop, 'abort');
    await receiver.close();
    return 0;
  } catch (error) {
    output.error(`webhook-receiver: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

function stopOnSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

const processOutput: CommandOutput = {
  line: (text) => void process.stdout.write(`${text}\n`),
  error: (text) => void process.stderr.write(`${text}\n`),
};

/** Returns the options, or an error message for invalid arguments. */
function optionsFrom(argv: readonly string[]): WebhookReceiverOptions | string {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        secret: { type: 'string', multiple: true },
        port: { type: 'string', default: '0' },
        log: { type: 'string' },
      },
    });
    const port = Number(values.port);
    if (values.secret === undefined) return 'a secret is missing: give --secret';
    if (!/^\d+$/.test(values.port) || port > 65_535) return 'the port must be a number from 0 to 65535';
    return { secrets: values.secret, port, ...(values.log !== undefined && { logFile: values.log }) };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
