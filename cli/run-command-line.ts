import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { failureKindOf } from '../worker/failure-kind.js';
import { addAccessCommands } from './access-commands.js';
import type { Context, Output } from './context.js';
import type { DemoArguments } from './demo/demo-options.js';
import { CommandError, ExitCode } from './exit-code.js';
import { addImportCommands } from './import-commands.js';
import { addOperationCommands } from './operation-commands.js';
import { processOutput } from './process-output.js';
import { releaseSignals } from './until-stopped.js';

/** Commands that run until they are told to stop, and end in order then. */
const lasting: ReadonlySet<string> = new Set(['start', 'worker', 'demo', 'import', 'follow']);

/** The command line: what it takes, and nothing of what it does. Each command is loaded when it is asked for. */
function createProgram(out: Output, finish: (code: ExitCode) => void): Command {
  const program = new Command('pigeonpost')
    .description('Delivers what an audience does at an event to the systems where people already work.')
    .version(version())
    .option('--config <file>', 'the configuration', './pigeonpost.yaml')
    .option('--debug', 'show the stack of an unexpected error')
    .showHelpAfterError('(pigeonpost --help shows what there is)')
    .exitOverride()
    .hook('preAction', async (_, command) => {
      if (!lasting.has(command.name())) releaseSignals();
    });
  const context = (): Context => {
    const { config, debug } = program.opts<{ config: string; debug?: boolean }>();
    return { config, debug: debug === true, out };
  };

  program
    .command('start')
    .description('read, deliver and serve the API, with everything embedded unless addresses are configured')
    .option('--accept-config', 'make this file current again, although a newer one was', false)
    .option('--adopt', 'take over a ledger that another Temporal has driven', false)
    .action(async (options: { acceptConfig: boolean; adopt: boolean }) => {
      const { start } = await import('./commands/start.js');
      finish(await start(context(), { ...options, role: 'start' }));
    });
  program
    .command('worker')
    .description('a further worker process beside others, on their PostgreSQL and Temporal')
    .option('--listen <host:port>', 'answer /healthz, /readyz and /metrics there, such as 127.0.0.1:9464')
    .action(async (options: { listen?: string }) => {
      const { start } = await import('./commands/start.js');
      finish(await start(context(), { acceptConfig: false, adopt: false, role: 'worker', ...options }));
    });
  program
    .command('check')
    .description('look at the configuration, each key, each sink, the store and Temporal; changes nothing')
    .option('--estimate', 'also what reading will need of the request quota, by the days of the calendar', false)
    .option('--quota <n>', 'for --estimate: requests a day, where the service does not tell', toRequests)
    .option('--json', 'one JSON document', false)
    .action(async (options: { json: boolean; estimate: boolean; quota?: number }) => {
      const { check } = await import('./commands/check.js');
      finish(await check(context(), { ...options, quota: options.quota ?? null }));
    });
  program
    .command('status')
    .description('how the running pigeonpost stands')
    .option('--json', 'one JSON document', false)
    .option('--counts', 'with items by list and sink; reads the whole ledger', false)
    .action(async (options: { json: boolean; counts: boolean }) => {
      const { status } = await import('./commands/status.js');
      finish(await status(context(), options));
    });
  program
    .command('fields <list>')
    .description('which fields the stored items of a list have, by pigeonhole: for writing mappings')
    .option('--pigeonhole <id>', 'of this one alone: WORKSPACE/ID, or the ID')
    .option('--json', 'one JSON document', false)
    .action(async (list: string, options: { pigeonhole?: string; json: boolean }) => {
      const { fields } = await import('./commands/fields.js');
      finish(await fields(context(), { list, ...options }));
    });
  addImportCommands(program, context, finish);
  addOperationCommands(program, context, finish);
  addDeletions(program, context, finish);
  addAccessCommands(program, context, finish);
  program
    .command('sandbox')
    .description(
      'the Event Engagement Service itself, on loopback, with live traffic; "sandbox --help" shows its knobs',
    )
    .allowUnknownOption()
    .helpOption(false)
    .argument('[options...]')
    .action(async (options: string[]) => {
      const { sandbox } = await import('./commands/sandbox.js');
      finish(await sandbox(options));
    });
  program
    .command('demo')
    .description('what "npm start" runs: a sandbox with live traffic, everything embedded, and stand-ins to deliver to')
    .option('--once', 'a frozen conference: ends by itself when all is settled, and compares source and sinks', false)
    .option('--attendees <n>', 'size of the conference', '500')
    .option('--rate <n>', 'live events a second', '2')
    .option('--seed <n>', 'what everything random in the conference follows from', '1')
    .option('--folder <path>', 'where the demo keeps its data; each run begins afresh', './demo-data')
    .action(async (options: DemoArguments) => {
      const { demo } = await import('./commands/demo.js');
      finish(await demo(context(), options));
    });
  return program;
}

function addDeletions(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  const deletions = program
    .command('deletions')
    .description('deletions that wait for a person, because so many items of a list are gone at once');
  deletions
    .command('list')
    .description('what waits')
    .option('--json', 'one JSON document', false)
    .action(async (options: { json: boolean }) => {
      const { listDeletions } = await import('./commands/deletions.js');
      finish(await listDeletions(context(), options));
    });
  deletions
    .command('show <id>')
    .description('the exact items')
    .option('--json', 'one JSON document', false)
    .action(async (id: string, options: { json: boolean }) => {
      const { showDeletions } = await import('./commands/deletions.js');
      finish(await showDeletions(context(), { id, ...options }));
    });
  const decisions = { confirm: 'they are gone: every sink is told', reject: 'they are kept as they are' } as const;
  for (const verb of ['confirm', 'reject'] as const) {
    deletions
      .command(`${verb} <id>`)
      .description(decisions[verb])
      .option('--yes', 'do not ask', false)
      .option('--json', 'one JSON document', false)
      .action(async (id: string, options: { yes: boolean; json: boolean }) => {
        const { decideDeletions } = await import('./commands/deletions.js');
        finish(
          await decideDeletions(context(), { id, decision: verb === 'confirm' ? 'confirmed' : 'rejected', ...options }),
        );
      });
  }
}

function toRequests(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('give a whole number of requests, such as 10000');
}

function version(): string {
  return (require('../../package.json') as { version: string }).version;
}

/** Runs what the command line asks for; the exit code stands in `process.exitCode` afterwards. Never rejects for a failed command. */
export async function runCommandLine(): Promise<void> {
  const out = processOutput();
  const program = createProgram(out, (code) => {
    process.exitCode = code;
  });
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = explain(error, program.opts<{ debug?: boolean }>().debug === true, out);
  }
}

/** One sentence on standard error; a stack only when asked for. */
function explain(error: unknown, debug: boolean, out: Output): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.Done : ExitCode.WrongUse; // has been printed
  const known = error instanceof CommandError || failureKindOf(error) !== undefined;
  const message = error instanceof Error ? error.message : String(error);
  out.note(`pigeonpost: ${message}`);
  if (debug && error instanceof Error) out.note(error.stack ?? '');
  else if (!known)
    out.note('this was not expected: run it again with --debug before the command to see where it happened');
  if (error instanceof CommandError) return error.exitCode;
  switch (failureKindOf(error)) {
    case 'configuration':
      return ExitCode.WrongUse;
    case 'unreachable':
      return ExitCode.Unreachable;
    default:
      return ExitCode.Failed;
  }
}
