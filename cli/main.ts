#!/usr/bin/env node
import { boundHeap, keepVerifying } from '../worker/prepare-process.js';
import { ExitCode } from './exit-code.js';
import { holdSignals } from './until-stopped.js';

/** Runs `pigeonpost`. Limits the memory and holds signals first, because loading the command line takes a moment. */
async function main(): Promise<void> {
  boundHeap();
  holdSignals();
  keepVerifying();
  const { runCommandLine } = await import('./run-command-line.js');
  await runCommandLine();
}

main().then(
  () => {
    // Keep-alive sockets and native threads must not keep a finished command alive.
    if (process.exitCode !== undefined) process.stdout.write('', () => process.exit());
  },
  (error: unknown) => {
    process.stderr.write(`pigeonpost: ${String(error)}\n`);
    process.exit(ExitCode.Failed);
  },
);
