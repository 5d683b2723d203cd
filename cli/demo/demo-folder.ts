import { codeOf } from '../../base/errors.js';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CommandError, ExitCode, wrongUse } from '../exit-code.js';

/** Paths of one run of the demo, absolute except `shown`. */
export interface DemoFolder {
  readonly path: string;
  /** Path as the user wrote it, for messages. */
  readonly shown: string;
  readonly config: string;
  /** Folder of the embedded store. */
  readonly store: string;
  /** Folder of the file sink. */
  readonly archive: string;
  /** Log of the webhook receiver. */
  readonly receipts: string;
  readonly logs: string;
  /** Releases the folder. Files of this run stay until the next one. */
  release(): Promise<void>;
}

const claimFile = 'demo.json';
/** Files of a run, which the next run deletes. Nothing else in the folder is touched. */
const madeByRun = ['archive', 'data', 'logs', 'pigeonpost.yaml', 'receipts.ndjson', 'statement.html', 'statement.json'];
/** Subfolder for `--once`, so that it does not delete the files of another demo. */
const onceFolder = 'once';

/**
 * Claims the demo's folder for a run and deletes the files of the previous run. Every run starts with an empty ledger,
 * because the sandbox creates its conference from the seed again and loses the live traffic of the previous run. An old
 * ledger would contain people and questions that the source no longer has, and the source would have others with the
 * same IDs, so the counts would differ.
 * @param once claims a subfolder instead
 * @throws {CommandError} if another demo uses the folder, or if it holds files that no demo has written
 */
export async function claimDemoFolder(folder: string, { once }: { once: boolean }): Promise<DemoFolder> {
  const shown = once ? join(folder, onceFolder) : folder;
  const path = resolve(shown);
  try {
    await mkdir(path, { recursive: true });
    await refuseForeign(path, shown);
    for (const name of madeByRun) await rm(join(path, name), { recursive: true, force: true });
    await mkdir(join(path, 'logs'));
    await writeFile(join(path, claimFile), claimText(process.pid));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      ExitCode.Failed,
      `the demo cannot use ${shown} (${codeOf(error)}): choose another folder with --folder`,
      {
        cause: error,
      },
    );
  }
  return {
    path,
    shown,
    config: join(path, 'pigeonpost.yaml'),
    store: join(path, 'data'),
    archive: join(path, 'archive'),
    receipts: join(path, 'receipts.ndjson'),
    logs: join(path, 'logs'),
    release: () => writeFile(join(path, claimFile), claimText(null)),
  };
}

async function refuseForeign(path: string, shown: string): Promise<void> {
  const entries = await readdir(path);
  if (!entries.includes(claimFile)) {
    if (entries.every((name) => name === onceFolder)) return;
    throw wrongUse(`${shown} contains files that the demo did not create: choose an empty or new folder with --folder`);
  }
  const user = readClaim(await readFile(join(path, claimFile), 'utf8'));
  if (user !== null && user !== process.pid && isDemoRunning(user)) {
    throw new CommandError(
      ExitCode.Failed,
      `a demo is already running in ${shown} (process ${user}): stop it first, or choose another folder with --folder`,
    );
  }
}

function claimText(pid: number | null): string {
  return `${JSON.stringify({ what: 'a folder of "pigeonpost demo"; each run deletes the files of the last', pid })}\n`;
}

function readClaim(text: string): number | null {
  try {
    const { pid } = JSON.parse(text) as { pid?: unknown };
    return typeof pid === 'number' ? pid : null;
  } catch {
    return null; // the file is incomplete, so the run that wrote it has ended
  }
}

/**
 * Whether a process is a running demo. Another program may now have its number, so on Linux the command line is checked
 * as well.
 */
function isDemoRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('demo');
  } catch {
    return false;
  }
}

/** Names in the demo's pigeonpost.yaml. */
export const demoNames = {
  workspace: 'sandbox',
  fileSink: 'archive',
  webhookSink: 'hooks',
  crmSink: 'crm',
  slackSink: 'questions',
} as const;

/** The variables for the secrets of the demo. They are passed to the child and not written to a file. */
export const demoVariables = {
  apiKey: 'PIGEONPOST_DEMO_API_KEY',
  webhookSecret: 'PIGEONPOST_DEMO_WEBHOOK_SECRET',
  hubSpotToken: 'PIGEONPOST_DEMO_HUBSPOT_TOKEN',
  slackToken: 'PIGEONPOST_DEMO_SLACK_TOKEN',
} as const;

/** The only channel of the stand-in for Slack. */
const demoChannel = 'C0123456789';

interface DemoPlaces {
  readonly sandboxUrl: string;
  readonly receiverUrl: string;
  readonly hubSpotUrl: string;
  readonly slackUrl: string;
  readonly apiPort: number;
  /** Requests per 10 s that the stand-ins allow; null for the vendors' limits. */
  readonly per10s: number | null;
}

/**
 * Returns the demo's pigeonpost.yaml: one workspace with all its pigeonholes, and one sink of each type in the demo.
 * Pure.
 */
export function demoConfig({ sandboxUrl, receiverUrl, hubSpotUrl, slackUrl, apiPort, per10s }: DemoPlaces): string {
  const limits = per10s === null ? '' : `\n    limits: { per10s: ${per10s} }`;
  return `# "pigeonpost demo" writes this file at each start and overwrites your changes. Secrets come from the environment.
workspaces:
  ${demoNames.workspace}:
    baseUrl: ${sandboxUrl}
    apiKey: \${${demoVariables.apiKey}}

syncs:
  conference:
    workspace: ${demoNames.workspace}
    every: # short, so that you can watch the demo; for your own event, use the defaults
      live: 1s
      quiet: 30s
      new: 10s
      upcoming: 10s
      ended: 10s
      sweep: 10s
      lists:
        pigeonholes: 5s
        subscriptions: 5s
    sinks: [${demoNames.fileSink}, ${demoNames.webhookSink}, ${demoNames.crmSink}, ${demoNames.slackSink}]

sinks:
  ${demoNames.fileSink}: # by default, receives everyone except people who refused
    type: file
    folder: ./archive
    history: all
  ${demoNames.webhookSink}: # by default, receives only people who gave consent; so do the two sinks below
    type: webhook
    url: ${receiverUrl}
    secret: \${${demoVariables.webhookSecret}}
    allowPrivateAddresses: true
    history: all
  ${demoNames.crmSink}: # a contact for each attendee, who also attends the event in HubSpot
    type: hubspot
    baseUrl: ${hubSpotUrl} # a stand-in on this machine; without this line, the sink uses HubSpot
    token: \${${demoVariables.hubSpotToken}}${limits}
    history: all
    records:
      - from: attendees
        object: contacts
        match: [email]
        properties:
          email: $email(item.Email)
          firstname: $firstName(item.Name)
          lastname: $lastName(item.Name)
          company: item.Company
          jobtitle: item.\`Job title\`
          country: item.Country
      - from: attendees
        object: marketing-event
        event: { name: pigeonhole.name, organizer: '"ACME"' }
        attendance: '"attend"'
        email: $email(item.Email)
  ${demoNames.slackSink}: # approved questions, one thread per session; authors who must stay anonymous appear as "Someone"
    type: slack
    baseUrl: ${slackUrl}/api # a stand-in on this machine; without this line, the sink uses Slack
    token: \${${demoVariables.slackToken}}${limits}
    channel: ${demoChannel}
    history: all
    messages:
      - from: qna-questions
        when: item.status = "allowed"
        text: '(attendee.Name ? attendee.Name : "Someone") & ": " & item.content'
        threadBy: item.session.id

store: embedded:./data
temporal: { address: embedded, namespace: default }
server:
  port: ${apiPort}
network:
  proxy: none # everything runs on this machine
`;
}
