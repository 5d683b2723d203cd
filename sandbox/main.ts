import { CommanderError } from 'commander';
import { runSandboxCommand } from './command.js';

/** Runs only the sandbox: `node dist/sandbox/main.js --port 8090`. Exit codes: 0 stopped, 1 failed, 2 wrong usage. */
runSandboxCommand(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof CommanderError) {
    process.exitCode = 2; // commander has already printed the error
    return;
  }
  process.stderr.write(`sandbox: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
