#!/usr/bin/env node
import { boundHeap, keepVerifying } from '../worker/prepare-process.js';
import { ExitCode } from './exit-code.js';
import { holdSignals } from './until-stopped.js';

/** The command `pigeonpost`. Bounds its memory and holds on to signals before the command line, which takes a moment, is even loaded. */
async function main(): Promise<void> {
  boundHeap();
  holdSignals();
  keepVerifying();
  const { runCommandLine } = await import('./run-command-line.js');
  await runCommandLine();
}

main().then(
  () => {
    // Nothing may keep a finished command alive: a socket in keep-alive, a native thread.
    if (process.exitCode !== undefined) process.stdout.write('', () => process.exit());
  },
  (error: unknown) => {
    process.stderr.write(`pigeonpost: ${String(error)}\n`);
    process.exit(ExitCode.Failed);
  },
);
