import type { Command } from 'commander';
import type { Run } from '../command.js';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ExitCode } from '../exit-code.js';

/** Adds `pigeonpost sandbox`, which parses its own options and prints its own help. */
export function addSandbox(program: Command, run: Run): void {
  program
    .command('sandbox')
    .description('Run a local stand-in for the Event Engagement Service with live traffic; see "sandbox --help"')
    .allowUnknownOption()
    .helpOption(false)
    .argument('[options...]')
    .action((options: string[]) => run(() => sandbox(options), { offline: 'sandbox' }));
}

/** `pigeonpost sandbox …`: runs the sandbox as a child process, with its own options and output. */
async function sandbox(options: readonly string[]): Promise<ExitCode> {
  const child = spawn(process.execPath, [join(__dirname, '../../sandbox/main.js'), ...options], { stdio: 'inherit' });
  // The terminal sends Ctrl-C to the child as well, but a SIGTERM reaches only this process.
  process.on('SIGINT', () => undefined);
  process.once('SIGTERM', () => child.kill('SIGTERM'));
  return await new Promise((resolve) => {
    child.once('exit', (code) =>
      resolve(code === 0 ? ExitCode.Done : code === 2 ? ExitCode.WrongUse : ExitCode.Failed),
    );
  });
}
