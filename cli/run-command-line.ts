import { styleText } from 'node:util';
import { Command, CommanderError, Help } from 'commander';
import { failureKindOf } from '../worker/failure-kind.js';
import { packageVersion } from '../base/package-root.js';
import { addAccessCommands } from './access-commands.js';
import { groupCommands } from './command-groups.js';
import { addBackupCommands } from './backup-commands.js';
import type { Context, Output } from './context.js';
import type { DemoArguments } from './demo/demo-options.js';
import { exampleText } from './example-text.js';
import { CommandError, ExitCode } from './exit-code.js';
import { addImportCommands } from './import-commands.js';
import { addOperationCommands } from './operation-commands.js';
import { addPrivacyCommands } from './privacy-commands.js';
import { processOutput } from './process-output.js';
import { addSetupCommands } from './setup-commands.js';
import { releaseSignals } from './until-stopped.js';
import { wrapText } from './wrap-text.js';

const exitCodes =
  'Exit codes: 0 done; 1 failed; 2 wrong use or configuration; 3 the service, the store or Temporal cannot be reached; 4 not found; 5 finished with rejected rows or dead letters.';

/** Commands that run until they are told to stop, and end in order then. */
const lasting: ReadonlySet<string> = new Set(['start', 'worker', 'api', 'demo', 'import', 'follow']);

/** Commands that work from the configuration alone, so that `--url` would be ignored. */
const asksNobody: ReadonlySet<string> = new Set([
  'start',
  'worker',
  'api',
  'demo',
  'sandbox',
  'init',
  'check',
  'doctor',
  'restore',
  'key export',
  'completion',
]);

/** "key export" of `pigeonpost key export FILE`. */
function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}

interface GlobalOptions {
  readonly config: string;
  readonly url?: string;
  readonly token?: string;
  readonly debug?: boolean;
}

/** The command line: what it takes, and nothing of what it does. Each command is loaded when it is asked for. */
export function createProgram(out: Output, finish: (code: ExitCode) => void): Command {
  const program = new Command('pigeonpost')
    .description('Delivers what an audience does at an event to the systems where people already work.')
    .version(packageVersion())
    .option('--config <file>', 'the configuration', './pigeonpost.yaml')
    .option('--url <address>', 'ask the pigeonpost at this address, and not the one of the configuration')
    .option('--token <token>', 'a token of that one; better in PIGEONPOST_TOKEN, which other accounts cannot read')
    .option('--debug', 'show the stack of an unexpected error')
    .showHelpAfterError('(pigeonpost --help shows what there is)')
    .configureHelp({
      styleTitle: (title) => styleText('bold', title, { validateStream: false }), // taken out where there are no colours
      minWidthToWrap: 20,
      optionDescription(option) {
        // that a flag is not set until it is given need not be said
        const isUnset = option.defaultValue === false || isEmpty(option.defaultValue);
        return isUnset ? option.description : Help.prototype.optionDescription.call(this, option);
      },
    })
    .addHelpCommand(new Command('help').argument('[command]').description('how a command is used, with examples'))
    .addHelpText('after', () =>
      [exampleText('init', 'start', 'status', 'ready 101'), '', ...wrapText(exitCodes, { columns: out.columns })].join(
        '\n',
      ),
    )
    .exitOverride()
    .hook('preAction', (_, command) => {
      const { url, token } = program.opts<GlobalOptions>();
      const option = url === undefined ? (token === undefined ? null : '--token') : '--url';
      const name = pathOf(command);
      if (option !== null && asksNobody.has(name)) {
        throw new CommandError(
          ExitCode.WrongUse,
          `${option} aims a command at a running pigeonpost, and "${name}" asks none: leave it out`,
        );
      }
      if (!lasting.has(command.name())) releaseSignals();
    });
  const context = (): Context => {
    const { config, url, token, debug } = program.opts<GlobalOptions>();
    return { config, url, token, debug: debug === true, out };
  };

  addSetupCommands(program, context, finish);
  program
    .command('start')
    .description('read, deliver and serve the API, with everything embedded unless addresses are configured')
    .option('--accept-config', 'make this file current again, although a newer one was', false)
    .option('--adopt', 'take over a ledger that another Temporal has driven', false)
    .option('--plain', 'print the log also on a terminal, in place of the screen', false)
    .addHelpText('after', exampleText('start', 'start --config acme.yaml'))
    .action(async (options: { acceptConfig: boolean; adopt: boolean; plain: boolean }) => {
      const { start } = await import('./commands/start.js');
      finish(await start(context(), { ...options, role: 'start' }));
    });
  program
    .command('worker')
    .description('a further worker process beside others, on their PostgreSQL and Temporal')
    .option('--listen <host:port>', 'answer /healthz, /readyz and /metrics there, such as 127.0.0.1:9464')
    .addHelpText('after', exampleText('worker --config acme.yaml', 'worker --listen 127.0.0.1:9464'))
    .action(async (options: { listen?: string }) => {
      const { start } = await import('./commands/start.js');
      finish(await start(context(), { acceptConfig: false, adopt: false, role: 'worker', ...options }));
    });
  program
    .command('api')
    .description('a further process that serves the HTTP API alone, beside workers on their PostgreSQL and Temporal')
    .addHelpText('after', exampleText('api --config acme.yaml'))
    .action(async () => {
      const { start } = await import('./commands/start.js');
      finish(await start(context(), { acceptConfig: false, adopt: false, role: 'api' }));
    });
  program
    .command('status')
    .description('how the running pigeonpost stands')
    .option('--json', 'one JSON document', false)
    .option('--counts', 'with items by list and sink; reads the whole ledger', false)
    .option('--watch', 'again every 2 s, until Ctrl-C', false)
    .addHelpText('after', exampleText('status', 'status --watch', 'status --json'))
    .action(async (options: { json: boolean; counts: boolean; watch: boolean }) => {
      const { status } = await import('./commands/status.js');
      finish(await status(context(), options));
    });
  program
    .command('fields <list>')
    .description('which fields the stored items of a list have, by pigeonhole: for writing mappings')
    .option('--pigeonhole <id>', 'of this one alone: WORKSPACE/ID, or the ID')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('fields attendees', 'fields registrants --pigeonhole acme/101'))
    .action(async (list: string, options: { pigeonhole?: string; json: boolean }) => {
      const { fields } = await import('./commands/fields.js');
      finish(await fields(context(), { list, ...options }));
    });
  addImportCommands(program, context, finish);
  addOperationCommands(program, context, finish);
  addDeletions(program, context, finish);
  addAccessCommands(program, context, finish);
  addBackupCommands(program, context, finish);
  addPrivacyCommands(program, context, finish);
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
    .addHelpText('after', exampleText('demo', 'demo --once --attendees 1000'))
    .action(async (options: DemoArguments) => {
      const { demo } = await import('./commands/demo.js');
      finish(await demo(context(), options));
    });
  groupCommands(program);
  for (const command of program.commands) pointToOwnHelp(command, 'pigeonpost');
  return program;
}

/** After wrong use, names the help of the command that was used wrongly. */
function pointToOwnHelp(command: Command, parent: string): void {
  const name = `${parent} ${command.name()}`;
  command.showHelpAfterError(`(${name} --help shows how it is used)`);
  for (const below of command.commands) pointToOwnHelp(below, name);
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function addDeletions(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  const deletions = program
    .command('deletions')
    .description('deletions that wait for a person, because so many items of a list are gone at once');
  deletions
    .command('list')
    .description('what waits')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('deletions list'))
    .action(async (options: { json: boolean }) => {
      const { listDeletions } = await import('./commands/deletions.js');
      finish(await listDeletions(context(), options));
    });
  deletions
    .command('show <id>')
    .description('the exact items')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('deletions show 3'))
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
      .addHelpText('after', exampleText(`deletions ${verb} 3`))
      .action(async (id: string, options: { yes: boolean; json: boolean }) => {
        const { decideDeletions } = await import('./commands/deletions.js');
        finish(
          await decideDeletions(context(), { id, decision: verb === 'confirm' ? 'confirmed' : 'rejected', ...options }),
        );
      });
  }
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
