import { messageOf } from '../base/errors.js';
import { styleText } from 'node:util';
import { Command, CommanderError, Help } from 'commander';
import { packageVersion } from '../base/package-root.js';
import { failureKindOf } from '../worker/failure-kind.js';
import { CliCommand, exampleText, type Run } from './command.js';
import { addActions, addSink } from './commands/act.js';
import { addAlerts } from './commands/alerts.js';
import { addApply } from './commands/apply.js';
import { addAudit } from './commands/audit.js';
import { addAuditLog, addOpen, addToken } from './commands/access.js';
import { addBackup, addKey } from './commands/backup.js';
import { addCheck } from './commands/check.js';
import { addCompletion } from './commands/completion.js';
import { addConfig } from './commands/configuration.js';
import { addDeadLetters, addReplay } from './commands/send-again.js';
import { addDeletions } from './commands/deletions.js';
import { addDeliveries } from './commands/deliveries.js';
import { addDemo, addSandbox } from './commands/demo.js';
import { addDoctor } from './commands/doctor.js';
import { addFields, addPreview } from './commands/mappings.js';
import { addFind } from './commands/find.js';
import { addErasures, addForget, addPerson } from './commands/forget.js';
import { addImport } from './commands/import.js';
import { addIncidents } from './commands/incidents.js';
import { addExport } from './commands/export.js';
import { addInit } from './commands/init.js';
import { addItems, addWhy } from './commands/items.js';
import { addLive } from './commands/live.js';
import { addMcp } from './commands/mcp.js';
import { addReady } from './commands/ready.js';
import { addRestore } from './commands/restore.js';
import { addApi, addStart, addWorker } from './commands/start.js';
import { addStatement } from './commands/statement.js';
import { addStatus } from './commands/status.js';
import { noteMessage, type Output, processOutput } from './output.js';
import { CommandError, ExitCode, wrongUse } from './exit-code.js';
import { wrapText } from './text-line.js';
import { releaseSignals } from './until-stopped.js';

type AddCommand = (program: CliCommand) => void;

/** The commands in the order and under the headings of the help. */
const commandGroups: readonly (readonly [heading: string, commands: readonly AddCommand[]])[] = [
  ['Get started', [addInit, addCheck, addStart, addWorker, addApi, addDemo, addSandbox]],
  [
    'Observe',
    [
      addOpen,
      addStatus,
      addReady,
      addFind,
      addLive,
      addItems,
      addWhy,
      addDeliveries,
      addPreview,
      addFields,
      addStatement,
      addDoctor,
    ],
  ],
  [
    'Operate',
    [addActions, addReplay, addSink, addAudit, addDeadLetters, addDeletions, addConfig, addIncidents, addAlerts],
  ],
  ['Registrants and events', [addImport, addExport, addApply]],
  ['Personal data', [addForget, addErasures, addPerson]],
  ['Administer', [addToken, addAuditLog, addBackup, addRestore, addKey, addMcp, addCompletion]],
];

const exitCodes =
  'Exit codes: 0 success; 1 failure; 2 wrong usage or configuration; 3 the service, the store or Temporal cannot be reached; 4 not found; 5 finished with rejected rows or dead letters.';

interface GlobalOptions {
  readonly config: string;
  readonly url?: string;
  readonly token?: string;
  readonly debug?: boolean;
}

/**
 * Returns the parser of the command line. Each command adds itself, and imports what is slow to load only when it runs,
 * so that help and completion start quickly.
 */
export function createProgram(out: Output, finish: (code: ExitCode) => void): Command {
  const run: Run = async (work, { offline, holdsSignals = false }) => {
    const { config, url, token } = program.opts<GlobalOptions>();
    const unused = url === undefined ? (token === undefined ? null : '--token') : '--url';
    if (offline !== undefined && unused !== null) {
      throw wrongUse(`"${offline}" does not use ${unused}: remove it`);
    }
    if (!holdsSignals) releaseSignals();
    finish(await work({ config, url, token, out }));
  };
  const program = new CliCommand('pigeonpost', run)
    .description('Delivers the activity of an event audience to CRM, chat, learning and data systems.')
    .version(packageVersion(), '-V, --version', 'version number')
    .helpOption('-h, --help', 'help for a command')
    .option('--config <file>', 'configuration file', './pigeonpost.yaml')
    .option('--url <address>', 'address of a running pigeonpost, instead of the address in the configuration')
    .option('--token <token>', 'API token for --url; prefer PIGEONPOST_TOKEN, which other accounts cannot read')
    .option('--debug', 'show the stack trace of an unexpected error')
    .showHelpAfterError('(run pigeonpost --help for a list of commands)')
    .configureHelp({
      styleTitle: (title) => styleText('bold', title, { validateStream: false }), // commander removes the style if there are no colours
      minWidthToWrap: 20,
      optionDescription(option) {
        const isUnset = option.defaultValue === false || isEmptyArray(option.defaultValue);
        const text = isUnset ? option.description : Help.prototype.optionDescription.call(this, option); // "(default: false)" does not help a reader
        return option.mandatory ? `${text} (required)` : text;
      },
    })
    .addHelpCommand(new Command('help').argument('[command]').description('Show how to use a command'))
    .addHelpText('after', () =>
      [exampleText('init', 'start', 'status', 'ready 101'), '', ...wrapText(exitCodes, { columns: out.columns })].join(
        '\n',
      ),
    )
    .exitOverride();
  for (const [heading, commands] of commandGroups) {
    program.commandsGroup(`${heading}:`); // `help`, which commander adds last, gets the last heading
    for (const add of commands) add(program);
  }
  for (const command of program.commands) pointToOwnHelp(command, 'pigeonpost');
  return program;
}

function isEmptyArray(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Makes an error about wrong usage point to the help of the command. */
function pointToOwnHelp(command: Command, parent: string): void {
  const name = `${parent} ${command.name()}`;
  command.showHelpAfterError(`(run ${name} --help for its usage)`);
  for (const below of command.commands) pointToOwnHelp(below, name);
}

/** Runs the command line of this process and sets `process.exitCode`. Never rejects for a failed command. */
export async function runCommandLine(): Promise<void> {
  const out = processOutput();
  const program = createProgram(out, (code) => {
    process.exitCode = code;
  });
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = reportError(error, program.opts<GlobalOptions>().debug === true, out);
  }
}

/** Prints one sentence on standard error, and a stack trace with `--debug`. */
function reportError(error: unknown, debug: boolean, out: Output): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.Done : ExitCode.WrongUse; // already printed
  const kind = failureKindOf(error);
  const isExpected = error instanceof CommandError || kind !== undefined;
  noteMessage(out, `pigeonpost: ${messageOf(error)}`);
  if (debug && error instanceof Error) noteMessage(out, error.stack ?? '');
  else if (!isExpected)
    out.note('this error is unexpected: run the command again with "pigeonpost --debug …" to see its stack trace');
  if (error instanceof CommandError) return error.exitCode;
  switch (kind) {
    case 'configuration':
      return ExitCode.WrongUse;
    case 'unreachable':
      return ExitCode.Unreachable;
    default:
      return ExitCode.Failed;
  }
}
