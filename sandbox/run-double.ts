import { parseArgs } from 'node:util';

/** Settings of a double that runs from the command line. */
interface DoubleArguments {
  /** 0 picks a free port. */
  readonly port: number;
  /** The only accepted token, instead of the double's default. */
  readonly token?: string;
  /** Number of requests allowed in ten seconds, instead of the vendor's limits. */
  readonly per10s?: number;
}

/** Flags of a double other than `--port`. */
type DoubleOption = Exclude<keyof DoubleArguments, 'port'>;

interface DoubleProgram {
  readonly name: string;
  readonly options: readonly DoubleOption[];
  start(options: DoubleArguments): Promise<{ readonly url: string; close(): Promise<void> }>;
}

/** Each double is loaded only if it is started, because some of them need packages that an installation lacks. */
const PROGRAMS: Readonly<Record<string, DoubleProgram>> = {
  canvas: {
    name: 'Canvas double',
    options: [],
    start: async (options) => (await import('./canvas/start-canvas-double.js')).startCanvasDouble(options),
  },
  hubspot: {
    name: 'HubSpot double',
    options: ['token', 'per10s'],
    async start({ token, ...options }) {
      const { startHubSpotDouble } = await import('./hubspot/start-hubspot-double.js');
      const { ALL_SCOPES } = await import('./hubspot/account.js');
      return startHubSpotDouble({ ...options, ...(token !== undefined && { tokens: { [token]: ALL_SCOPES } }) });
    },
  },
  lrs: {
    name: 'LRS double',
    options: [],
    start: async (options) => (await import('./lrs/start-lrs-double.js')).startLrsDouble(options),
  },
  salesforce: {
    name: 'Salesforce double',
    options: [],
    async start(options) {
      const { startSalesforceDouble } = await import('./salesforce/start-salesforce-double.js');
      const { field } = await import('./salesforce/sobject-type.js');
      // Custom fields of the configuration example, which an administrator would create.
      const id = (name: string) => [field(name, { externalId: true, unique: true })];
      const people = { Lead: id('Engagement_Id__c'), Contact: id('Engagement_Id__c') };
      const fields = { ...people, Campaign: id('Event_Id__c'), CampaignMember: id('Engagement_Key__c') };
      return startSalesforceDouble({ fields, ...options });
    },
  },
  slack: {
    name: 'Slack double',
    options: ['token', 'per10s'],
    async start({ port, token, per10s }) {
      const { startSlackDouble } = await import('./slack/start-slack-double.js');
      const { ALL_SCOPES } = await import('./slack/slack-workspace.js');
      const { scaledLimits } = await import('./slack/slack-call.js');
      return startSlackDouble({
        port,
        profile: 'established',
        ...(token !== undefined && { tokens: [{ token, scopes: ALL_SCOPES }] }),
        ...(per10s !== undefined && { limits: scaledLimits(per10s) }),
      });
    },
  },
};

const MEANINGS: Readonly<Record<DoubleOption, string>> = {
  token: '--token, a text',
  per10s: '--per10s, a number of requests from 1',
};

/**
 * Runs a double as a program: `<double> --port <number>` (a free one by default), and whichever of `--token <text>` and
 * `--per10s <number>` the double supports. Prints one line, `<name> ready at <url>`, once it answers, and ends at
 * SIGTERM or SIGINT. Exit codes: 0 stopped, 1 failed, 2 wrong usage.
 */
function run([vendor = '', ...argv]: readonly string[]): void {
  const program = Object.hasOwn(PROGRAMS, vendor) ? PROGRAMS[vendor] : undefined;
  if (program === undefined) {
    process.stderr.write(`run-double: give one of ${Object.keys(PROGRAMS).join(', ')}\n`);
    process.exitCode = 2;
    return;
  }
  const { name } = program;
  const isHelp = argv.some((argument) => argument === '--help' || argument === '-h');
  const given = isHelp ? undefined : readArguments(argv, program.options);
  if (given === undefined) {
    const options = ['--port, a number from 0 to 65535', ...program.options.map((option) => MEANINGS[option])];
    (isHelp ? process.stdout : process.stderr).write(`${name} accepts ${options.join('; ')}\n`);
    process.exitCode = isHelp ? 0 : 2;
    return;
  }
  const fail = (error: unknown): void => {
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  };
  program
    .start(given)
    .then((double) => {
      const end = (): void => void double.close().catch(fail);
      process.once('SIGTERM', end).once('SIGINT', end);
      process.stdout.write(`${name} ready at ${double.url}\n`);
    })
    .catch(fail);
}

/** Returns undefined for an unknown option or an invalid value. */
function readArguments(argv: readonly string[], known: readonly DoubleOption[]): DoubleArguments | undefined {
  const own = Object.fromEntries(known.map((option) => [option, { type: 'string' as const }]));
  let values: Readonly<Record<string, string | undefined>>;
  try {
    ({ values } = parseArgs({ args: [...argv], options: { port: { type: 'string', default: '0' }, ...own } }));
  } catch {
    return undefined;
  }
  const { token } = values;
  const port = wholeNumber(values['port'] ?? '0', 0, 65_535);
  const per10s = values['per10s'] === undefined ? undefined : wholeNumber(values['per10s'], 1, 1_000_000);
  if (port === undefined || token === '' || (values['per10s'] !== undefined && per10s === undefined)) return undefined;
  return { port, ...(token !== undefined && { token }), ...(per10s !== undefined && { per10s }) };
}

function wholeNumber(text: string, least: number, most: number): number | undefined {
  const value = Number(text);
  return /^\d+$/.test(text) && value >= least && value <= most ? value : undefined;
}

run(process.argv.slice(2));
