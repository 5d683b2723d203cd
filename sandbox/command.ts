import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { DEFAULTS, type SandboxOptions, runSandbox } from './start-sandbox.js';
import { parseFault, type FaultRule } from './service/faults.js';
import type { Knobs } from './service/knobs.js';

/** The flags of the sandbox command. */
export const sandboxOptions: readonly { flag: string; description: string; default?: string }[] = [
  { flag: '--port <n>', description: 'port on loopback; 0 picks a free one', default: String(DEFAULTS.port) },
  { flag: '--seed <n>', description: 'seed of all random data', default: String(DEFAULTS.seed) },
  {
    flag: '--attendees <n>',
    description: 'attendees of the first pigeonhole, up to 1000000',
    default: String(DEFAULTS.attendees),
  },
  {
    flag: '--pigeonholes <n>',
    description: 'number of pigeonholes: live, ended, upcoming, new, …',
    default: String(DEFAULTS.pigeonholes),
  },
  { flag: '--sessions <n>', description: 'sessions of each pigeonhole', default: String(DEFAULTS.sessions) },
  { flag: '--questions <n>', description: 'questions of each qna session', default: String(DEFAULTS.questions) },
  { flag: '--votes <n>', description: 'votes in each qna session (default: three per question)' },
  {
    flag: '--responses <n>',
    description: 'people who respond in each poll, quiz and word cloud (default: half the attendees, at most 1000)',
  },
  { flag: '--rate <n>', description: 'live events per second', default: String(DEFAULTS.rate) },
  { flag: '--frozen', description: 'start without live events; POST /_control/thaw starts them' },
  {
    flag: '--order <order>',
    description: 'order of every list',
    default: DEFAULTS.order,
  },
  { flag: '--cursor <kind>', description: 'content of a cursor', default: DEFAULTS.cursor },
  { flag: '--workspace-kind <kind>', description: 'type of the workspace', default: DEFAULTS.workspaceKind },
  { flag: '--api-key <key>', description: `an accepted key; repeatable (default: ${DEFAULTS.apiKeys[0]})` },
  {
    flag: '--latency-ms <n>',
    description: 'delay of each response, in milliseconds',
    default: String(DEFAULTS.latencyMs),
  },
  {
    flag: '--quota <n/seconds>',
    description: 'quota of each key: requests per number of seconds, for example 1000/86400',
  },
  { flag: '--fault <spec>', description: 'a fault, for example kind=error,code=5000,rate=0.05; repeatable' },
  { flag: '--registrants <on|off>', description: 'whether registrants are enabled', default: 'on' },
  { flag: '--now <instant>', description: 'end of the generated past, ISO 8601 (default: the start of this hour)' },
];

interface Flags {
  port: number;
  seed: number;
  attendees: number;
  pigeonholes: number;
  sessions: number;
  questions: number;
  votes?: number;
  responses?: number;
  rate: number;
  frozen?: boolean;
  order: Knobs['order'];
  cursor: Knobs['cursor'];
  workspaceKind: 'personal' | 'team';
  apiKey?: string[];
  latencyMs: number;
  quota?: Knobs['quota'];
  fault?: FaultRule[];
  registrants: 'on' | 'off';
  now?: number;
}

const CHOICES: Record<string, string[]> = {
  order: ['ascending', 'descending', 'unordered'],
  cursor: ['keyset', 'offset'],
  workspaceKind: ['personal', 'team'],
  registrants: ['on', 'off'],
};

const READERS: Record<string, (text: string, before: unknown) => unknown> = {
  apiKey: (text, before) => [...((before as string[] | undefined) ?? []), text],
  fault: (text, before) => [...((before as FaultRule[] | undefined) ?? []), readFault(text)],
  quota: readQuota,
  now: readInstant,
};

/** Builds the commander command: --help and every flag of `sandboxOptions`, with validation. */
function createParser(): Command {
  const command = new Command('pigeonpost sandbox')
    .description('Run a stand-in for the Event Engagement Service on loopback, with live traffic and faults on demand')
    .helpOption('-h, --help', 'help for a command')
    .allowExcessArguments(false);
  for (const { flag, description, default: fallback } of sandboxOptions) {
    const option = new Option(flag, description);
    const name = option.attributeName();
    const choices = CHOICES[name];
    if (choices !== undefined) option.choices(choices);
    else if (name !== 'frozen') option.argParser(READERS[name] ?? readNumber);
    if (fallback !== undefined) option.default(choices === undefined ? Number(fallback) : fallback);
    command.addOption(option);
  }
  return command;
}

/**
 * Parses the flags of the command.
 * @throws {CommanderError} for an unknown flag or value; its `exitCode` is 0 for --help
 */
export function parse(argv: readonly string[]): SandboxOptions {
  const { now, quota, fault, apiKey, registrants, ...flags } = createParser()
    .exitOverride()
    .parse([...argv], { from: 'user' })
    .opts<Flags>();
  return {
    ...flags,
    registrants: registrants === 'on',
    ...(apiKey === undefined ? {} : { apiKeys: apiKey }),
    ...(fault === undefined ? {} : { faults: fault }),
    ...(quota === undefined ? {} : { quota }),
    ...(now === undefined ? {} : { nowMs: now }),
  };
}

/**
 * Runs a sandbox until SIGTERM or SIGINT. Prints one line with its address to standard output, and resolves when every
 * connection is closed. With --help, only prints the help.
 * @param argv the arguments after the command's name
 * @throws {CommanderError} for wrong usage, after commander has printed the error to standard error
 */
export async function runSandboxCommand(argv: string[]): Promise<void> {
  let options: SandboxOptions;
  try {
    options = parse(argv);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return;
    throw error;
  }
  const sandbox = await runSandbox(options);
  const what = `seed ${options.seed}, ${options.attendees} attendees, ${options.frozen === true ? 'frozen' : `${options.rate} events/s`}`;
  process.stdout.write(`sandbox ready on ${sandbox.baseUrl} (${what}, API key ${sandbox.apiKeys[0] ?? 'none'})\n`);
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  await sandbox.close();
}

function readNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('Give a number of 0 or more.');
  return value;
}

function readQuota(text: string): Knobs['quota'] {
  const match = /^(\d+)\/(\d+)$/.exec(text);
  if (match === null || Number(match[2]) === 0)
    throw new InvalidArgumentError('Give requests/seconds, for example 1000/86400.');
  return { limit: Number(match[1]), windowSeconds: Number(match[2]), headers: true, retryAfter: false };
}

function readFault(text: string): FaultRule {
  try {
    return parseFault(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

function readInstant(text: string): number {
  const value = Date.parse(text);
  if (Number.isNaN(value))
    throw new InvalidArgumentError('Give an ISO 8601 instant, for example 2026-11-21T09:00:00Z.');
  return value;
}
