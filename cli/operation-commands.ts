import { type Command, InvalidArgumentError } from 'commander';
import type { Context } from './context.js';
import { exampleText } from './example-text.js';
import type { ExitCode } from './exit-code.js';
import { wholeNumber } from './whole-number.js';

/** The commands that ask something of a running pigeonpost. Each is loaded when it is asked for. */
export function addOperationCommands(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  addActions(program, context, finish);
  addReplay(program, context, finish);
  addSinkCommands(program, context, finish);
  addQuestions(program, context, finish);
  addLooks(program, context, finish);
  addDeadLetters(program, context, finish);
  addConfigCommands(program, context, finish);
  addApply(program, context, finish);
  addAlerts(program, context, finish);
}

interface ActionOptions {
  readonly json: boolean;
  readonly list?: string;
  readonly for?: string;
  readonly end?: boolean;
  readonly reason?: string;
}

const places = 'workspace:NAME, pigeonhole:WORKSPACE/ID or sink:NAME, or NAME alone';
const why = 'why, for those who look later; shown in status, so without personal data';

function addActions(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  const actions = [
    [
      'pause',
      `stop reading or delivering until it is resumed: ${places}`,
      'pause sink:hooks --reason "receiver is moved"',
    ],
    ['resume', `go on with what was paused: ${places}`, 'resume sink:hooks'],
    [
      'try-now',
      'end every wait (backoff, Retry-After, a used-up quota, a refused key) and try again: workspace:NAME or sink:NAME',
      'try-now sink:crm',
    ],
    [
      'poll-now',
      'read now instead of at the next interval: workspace:NAME or pigeonhole:WORKSPACE/ID',
      'poll-now pigeonhole:acme/101 --for 2h',
    ],
    [
      'sweep',
      'walk whole lists now, to find edits and missing items: pigeonhole:WORKSPACE/ID, or workspace:NAME with all its pigeonholes',
      'sweep pigeonhole:acme/101 --list questions',
    ],
  ] as const;
  for (const [verb, description, example] of actions) {
    const command = program
      .command(`${verb} <what>`)
      .description(description)
      .option('--json', 'one JSON document', false)
      .addHelpText('after', exampleText(example))
      .action(async (what: string, options: ActionOptions) => {
        const { act } = await import('./commands/act.js');
        finish(await act(context(), { verb, what, ...options }));
      });
    if (verb === 'pause') command.option('--reason <text>', why);
    if (verb === 'poll-now') {
      command
        .option(
          '--for <duration>',
          'read every list of the pigeonhole at the live interval this long, for a rehearsal: 30m, 2h, up to 24h',
        )
        .option('--end', 'end what --for started');
    }
    if (verb === 'sweep') command.option('--list <list>', 'this list alone');
  }
}

interface ReplayArguments {
  readonly all: boolean;
  readonly list?: string[];
  readonly pigeonhole?: string;
  readonly from?: string;
  readonly dryRun: boolean;
  readonly reason?: string;
  readonly json: boolean;
}

function addReplay(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  program
    .command('replay [sink]')
    .description('send stored items again, each in its latest revision, marked as a replay')
    .option('--all', 'to every sink', false)
    .option('--list <list...>', 'of these lists alone')
    .option('--pigeonhole <workspace/id>', 'of this pigeonhole alone')
    .option('--from <time>', 'only what has changed since: 2026-11-21, 2026-11-21T09:30Z or 2h (ago)')
    .option('--dry-run', 'only count', false)
    .option('--reason <text>', why)
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('replay hooks --list questions votes --from 2h --dry-run'))
    .action(async (sink: string | undefined, options: ReplayArguments) => {
      const { replay } = await import('./commands/replay.js');
      finish(await replay(context(), { sink, ...options }));
    });
}

function addSinkCommands(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  const sink = program.command('sink').description('what concerns one sink');
  sink
    .command('approve <name>')
    .description(
      'let a sink with "mode: observe" send from its watermark, until its mode is another or its destination changes',
    )
    .option('--reason <text>', why)
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('sink approve hooks --reason "counts were looked at"'))
    .action(async (name: string, options: ActionOptions) => {
      const { act } = await import('./commands/act.js');
      finish(await act(context(), { verb: 'approve', what: `sink:${name.replace(/^sink:/, '')}`, ...options }));
    });
}

function addQuestions(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  type Asked = {
    sink: string;
    list?: string;
    item?: string;
    pigeonhole?: string;
    limit: number;
    changedFrom?: string;
    json: boolean;
  };
  program
    .command('preview')
    .description('the exact operations that the configuration would send for stored items; nothing is sent')
    .requiredOption('--sink <name>', 'of this sink')
    .option('--list <list>', 'of this list alone')
    .option('--item <list:key>', 'of this item alone')
    .option('--pigeonhole <workspace/id>', 'of this pigeonhole alone')
    .option('--limit <n>', 'so many items, newest first', wholeNumber(1000), 20)
    .option('--changed-from <file>', 'only where another pigeonpost.yaml would send something else')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('preview --sink crm --list attendees --limit 5 --changed-from old.yaml'))
    .action(async (options: Asked) => {
      const { preview } = await import('./commands/preview.js');
      finish(await preview(context(), options));
    });
  program
    .command('why <list:key>')
    .description('where an item was read, and what each sink was told, answered, or why it was not told')
    .option('--pigeonhole <id>', 'where several pigeonholes have that key: ID or WORKSPACE/ID')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('why question:9001'))
    .action(async (item: string, options: { pigeonhole?: string; json: boolean }) => {
      const { why } = await import('./commands/why.js');
      finish(await why(context(), { item, ...options }));
    });
}

const personal = 'with names and texts of people: takes the role privacy or admin, and is noted';

function addLooks(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  type Live = { list?: string; pigeonhole?: string; recent: number; personal: boolean; json: boolean };
  program
    .command('live')
    .description('changes as they are found, until Ctrl-C')
    .option('--list <list>', 'of this list alone')
    .option('--pigeonhole <workspace/id>', 'of this pigeonhole alone')
    .option('--recent <n>', 'so many of the past to begin with', toRecent, 10)
    .option('--personal', personal, false)
    .option('--json', 'a JSON document on a line for each change', false)
    .addHelpText('after', exampleText('live --list qna-questions --pigeonhole acme/101'))
    .action(async (options: Live) => {
      const { live } = await import('./commands/live.js');
      finish(await live(context(), options));
    });
  type Items = {
    pigeonhole: string;
    session?: string;
    limit: number;
    after?: string;
    personal: boolean;
    json: boolean;
  };
  program
    .command('items <list>')
    .description('what is stored of a list of a pigeonhole, by key; "why" tells the story of one')
    .requiredOption('--pigeonhole <workspace/id>', 'of this pigeonhole')
    .option('--session <id>', 'of this session alone')
    .option('--limit <n>', 'so many', wholeNumber(500), 100)
    .option('--after <position>', 'go on where the part before ended')
    .option('--personal', personal, false)
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('items attendees --pigeonhole acme/101 --limit 20'))
    .action(async (list: string, options: Items) => {
      const { items } = await import('./commands/items.js');
      finish(await items(context(), { list, ...options }));
    });
}

function toRecent(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 0 && count <= 500) return count;
  throw new InvalidArgumentError('give a whole number from 0 to 500');
}

function addDeadLetters(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  type Options = { sink?: string; cause?: string; item?: string; json: boolean };
  const letters = program
    .command('dead-letters')
    .description(
      'changes that a destination refused or that the mapping failed on, parked until the record, the mapping or the sink changes',
    );
  const chosen = (command: Command): Command =>
    command
      .option('--sink <name>', 'of this sink alone')
      .option('--cause <cause>', 'of this cause alone, as "list" shows it')
      .option('--item <list:key>', 'of this item alone')
      .option('--json', 'one JSON document', false);
  const list = letters.command('list').description('how many, by sink, cause and list');
  chosen(list.addHelpText('after', exampleText('dead-letters list --sink crm'))).action(async (options: Options) => {
    const { listDeadLetters } = await import('./commands/dead-letters.js');
    finish(await listDeadLetters(context(), options));
  });
  const show = letters.command('show').description('one by one, oldest first');
  chosen(show.addHelpText('after', exampleText('dead-letters show --cause "http:422"'))).action(
    async (options: Options) => {
      const { showDeadLetters } = await import('./commands/dead-letters.js');
      finish(await showDeadLetters(context(), options));
    },
  );
  chosen(letters.command('redrive').description('send them again after the cause is fixed'))
    .option('--yes', 'do not ask', false)
    .addHelpText('after', exampleText('dead-letters redrive --sink crm --cause "http:422"'))
    .action(async (options: Options & { yes: boolean }) => {
      const { redriveDeadLetters } = await import('./commands/dead-letters.js');
      finish(await redriveDeadLetters(context(), options));
    });
}

function addConfigCommands(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  const config = program.command('config').description('what concerns pigeonpost.yaml while it is in use');
  config
    .command('plan')
    .description('what the file would change in the running configuration, and the deliveries that it causes')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('config plan --config changed.yaml'))
    .action(async (options: { json: boolean }) => {
      const { planConfig } = await import('./commands/configuration.js');
      finish(await planConfig(context(), options));
    });
  config
    .command('apply')
    .description('make the file that "start" was given, as it stands now, the running configuration')
    .option('--yes', 'do not ask, also where it sends changes to sinks', false)
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('config apply'))
    .action(async (options: { json: boolean; yes: boolean }) => {
      const { applyConfig } = await import('./commands/configuration.js');
      finish(await applyConfig(context(), options));
    });
}

function addAlerts(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  const alerts = program.command('alerts').description('what people on duty are told, by `alerts` in pigeonpost.yaml');
  alerts
    .command('list')
    .description('what was told and is not over yet, and how the receivers take it')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('alerts list'))
    .action(async (options: { json: boolean }) => {
      const { listAlerts } = await import('./commands/alerts.js');
      finish(await listAlerts(context(), options));
    });
  alerts
    .command('test')
    .description('send every receiver a message that says that it is a test; works before the first start, too')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('alerts test'))
    .action(async (options: { json: boolean }) => {
      const { testAlerts } = await import('./commands/alerts.js');
      finish(await testAlerts(context(), options));
    });
}

interface ApplyArguments {
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly json: boolean;
  readonly use?: Readonly<Record<string, number>>;
  readonly new?: readonly string[];
}

function addApply(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  program
    .command('apply <file>')
    .description('create the pigeonhole of an event file and its sessions, each once; shows what it would do, and asks')
    .option('--dry-run', 'only show what exists and what would be created', false)
    .option('--yes', 'do not ask', false)
    .option('--use <key=id>', 'this session of the file (or pigeonhole) is the existing one of this id', toUse)
    .option('--new <key>', 'make it although one that exists looks like it, or it was deleted', collect)
    .option('--json', 'one JSON document', false)
    .addHelpText(
      'after',
      `${exampleText('apply event.yaml --dry-run')}\n\ndocs/provisioning.md has a whole event file.`,
    )
    .action(async (file: string, { new: create = [], use = {}, ...options }: ApplyArguments) => {
      const { apply } = await import('./commands/apply.js');
      finish(await apply(context(), { file, create, use, ...options }));
    });
}

function toUse(text: string, before: Readonly<Record<string, number>> = {}): Record<string, number> {
  const [, key, id] = /^([^=]{1,63})=(\d{1,15})$/.exec(text) ?? [];
  if (key === undefined || Number(id) < 1)
    throw new InvalidArgumentError('write the name in the file and the id, such as opening=5001');
  return { ...before, [key]: Number(id) };
}

function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}
