import { Argument, type Command, InvalidArgumentError } from 'commander';
import { nameKinds, type NameKind } from './completion/command-tree.js';
import { type Shell, shells } from './completion/shells.js';
import type { Context } from './context.js';
import { exampleText } from './example-text.js';
import type { ExitCode } from './exit-code.js';

type Finish = (code: ExitCode) => void;

/** What comes before work begins, and what helps when it does not. Each is loaded when it is asked for. */
export function addSetupCommands(program: Command, context: () => Context, finish: Finish): void {
  addInit(program, context, finish);
  addCheck(program, context, finish);
  addReady(program, context, finish);
  addDoctor(program, context, finish);
  addCompletion(program, context, finish);
}

interface InitArguments {
  readonly service?: string;
  readonly keyVariable?: string;
  readonly pigeonholes?: string;
  readonly sink?: string;
  readonly destination?: string;
  readonly secretVariable?: string;
  readonly yes: boolean;
  readonly check: boolean;
  readonly json: boolean;
}

function addInit(program: Command, context: () => Context, finish: Finish): void {
  program
    .command('init')
    .description('write a pigeonpost.yaml from the answers to a few questions, and look at what it names')
    .option('--service <url>', 'address of the service')
    .option('--key-variable <name>', 'environment variable with the API key')
    .option('--pigeonholes <which>', 'all, ids such as 101,102, or statuses such as upcoming,live')
    .option('--sink <type>', 'where changes go first: file, webhook, slack, hubspot or postgres')
    .option('--destination <text>', "the sink's folder, address, channel or schema")
    .option('--secret-variable <name>', "environment variable with the sink's secret")
    .option('--yes', 'ask nothing: take what is suggested for what no flag says', false)
    .option('--no-check', 'do not look at what it names')
    .option('--json', 'one JSON document; looks at nothing', false)
    .addHelpText(
      'after',
      exampleText('init', 'init --service https://api.example.com --pigeonholes 101,102 --sink file --yes'),
    )
    .action(async (options: InitArguments) => {
      const { init } = await import('./commands/init.js');
      finish(await init(context(), options));
    });
}

function addCheck(program: Command, context: () => Context, finish: Finish): void {
  program
    .command('check')
    .description('look at the configuration, each key, each sink, the store and Temporal; changes nothing')
    .option('--estimate', 'also what reading will need of the request quota, by the days of the calendar', false)
    .option('--quota <n>', 'for --estimate: requests a day, where the service does not tell', toRequests)
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('check', 'check --estimate --quota 10000'))
    .action(async (options: { json: boolean; estimate: boolean; quota?: number }) => {
      const { check } = await import('./commands/check.js');
      finish(await check(context(), { ...options, quota: options.quota ?? null }));
    });
}

function addReady(program: Command, context: () => Context, finish: Finish): void {
  program
    .command('ready <pigeonhole>')
    .description('the evening before: whether an event can begin, as one list, green or red')
    .option('--canary', 'then send an invented item through each sink, and take it back', false)
    .option('--yes', 'send canaries without asking', false)
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('ready 101', 'ready acme/101 --json', 'ready 101 --canary'))
    .action(async (pigeonhole: string, options: { canary: boolean; yes: boolean; json: boolean }) => {
      const { ready } = await import('./commands/ready.js');
      finish(await ready(context(), { pigeonhole, ...options }));
    });
}

function addDoctor(program: Command, context: () => Context, finish: Finish): void {
  program
    .command('doctor')
    .description('versions, settings without secrets, how all stands, and recent errors, as one text for a bug report')
    .option('--log <file>', 'a log of "start": its latest warnings and errors are added')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('doctor > report.txt', 'doctor --log pigeonpost.log --json'))
    .action(async (options: { log?: string; json: boolean }) => {
      const { doctor } = await import('./commands/doctor.js');
      finish(await doctor(context(), options));
    });
}

function addCompletion(program: Command, context: () => Context, finish: Finish): void {
  const completion = program
    .command('completion')
    .description('a script that lets your shell complete commands, options and names')
    .addArgument(new Argument('<shell>', 'which shell').choices(shells))
    .addHelpText(
      'after',
      `
Examples:
  eval "$(pigeonpost completion bash)"                                         # in ~/.bashrc
  pigeonpost completion zsh > "\${fpath[1]}/_pigeonpost"
  pigeonpost completion fish > ~/.config/fish/completions/pigeonpost.fish`,
    )
    .action(async (shell: Shell) => {
      const commands = await import('./commands/completion.js');
      finish(commands.completion(program, context(), shell));
    });
  completion
    .command('names', { hidden: true })
    .description('names that stand in the configuration: what the scripts ask')
    .addArgument(new Argument('<kind>').choices(nameKinds))
    .action(async (kind: NameKind) => {
      const { completionNames } = await import('./commands/completion.js');
      finish(await completionNames(context(), kind));
    });
}

function toRequests(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('give a whole number of requests, such as 10000');
}
