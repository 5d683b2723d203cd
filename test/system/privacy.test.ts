import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { runSandbox, type Sandbox } from '../../sandbox/start-sandbox.js';
import { runWebhookReceiver } from '../../sandbox/webhook-receiver/run-webhook-receiver.js';
import type { KnownConsentChange } from '../chaos/source.js';
import { freeTestPort } from '../free-port.js';
import { apiHeaders } from '../kit/api-headers.js';
import { readArchive } from '../kit/archive.js';
import type { HeldChange } from '../kit/compare-with-truth.js';
import { authoredLists, factsOf, listsWith } from '../kit/list-facts.js';
import { obtained } from '../kit/promises.js';
import { type Program, startProgram, untilOutput, writeYaml } from '../kit/processes.js';
import { truthOf } from '../kit/truth.js';
import { temporalForTests } from '../temporal.js';
import { until } from '../until.js';

/**
 * Tests the promise "nothing leaks" in a complete run as a process with live events, errors of the service and the most
 * detailed log level. Searches the log, standard output, status, every workflow history with decoded payloads, and the
 * data that both sinks received.
 */
const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const apiKey = 'key-marker-5d1f8e';

let sandbox: Sandbox;
let spoken: string;
let histories: string;
/** Payloads of the workflows that erase a person. */
let toldToForget: unknown[];
/** People who were erased at the end: as requested, and as the service knows them. */
let gone: { readonly asked: string; readonly person: Record<string, unknown> }[];
let held: { archive: HeldChange[]; hooks: HeldChange[] };
let people: Record<string, unknown>[];
/** `<pigeonhole> <attendee>` of people who had consent at any time. */
let everObtained: Set<string>;
let program: Program | undefined;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-privacy-'));
  sandbox = await runSandbox({ seed: 11, attendees: 80, rate: 20, frozen: true, apiKeys: [apiKey] });
  await makeWordCloudAnonymous();
  everObtained = new Set(await peopleWho(obtained));
  await control('thaw', { rate: 20 });
  const receiver = await runWebhookReceiver({ secrets: [secret], logFile: join(folder, 'receipts.ndjson') });
  const temporal = temporalForTests();
  const port = await freeTestPort();
  writeYaml(folder, [
    `workspaces: { acme: { baseUrl: "${sandbox.baseUrl}", apiKey: "\${SERVICE_KEY}" } }`,
    'syncs: { all: { workspace: acme, every: { live: 1s, sweep: 3s }, sinks: [archive, hooks] } }',
    'sinks:',
    '  archive: { type: file, folder: ./archive }',
    `  hooks: { type: webhook, url: "${receiver.url}", secret: "\${HOOK_SECRET}", allowPrivateAddresses: true }`,
    `temporal: { address: "${temporal.address}", taskQueue: "${temporal.taskQueue}" }`,
    `server: { port: ${port} }`,
  ]);
  program = startProgram('cli/main.js', ['start'], {
    cwd: folder,
    env: { SERVICE_KEY: apiKey, HOOK_SECRET: secret, PIGEONPOST_LOG: 'trace' },
  });
  await untilOutput(program, /ready/);
  await control('faults', { kind: 'error', code: 5000, rate: 0.2 });
  await control('faults', { kind: 'error', code: 4500, rate: 0.05 });
  await until('errors were met', () => /cannot be read/.test(program!.errors()));
  await fetch(`${sandbox.baseUrl}/_control/faults`, { method: 'DELETE' });
  await control('freeze');
  for (const { pigeonholeId, id, from, to } of await consentChanges()) {
    if (obtained(from) || obtained(to)) everObtained.add(`${pigeonholeId} ${id}`);
  }
  // A permanently refused erasure waits long; an operator who has fixed the cause does not.
  const headers = apiHeaders(folder);
  for (const name of ['acme/101', 'acme/102', 'acme/103']) {
    const body = JSON.stringify({ do: 'poll-now', kind: 'pigeonhole', name });
    await fetch(`http://127.0.0.1:${port}/api/actions`, { method: 'POST', headers, body });
  }
  const url = `http://127.0.0.1:${port}/api/status?counts`;
  let status = '';
  const settled = async (): Promise<boolean> => {
    status = await (await fetch(url, { headers })).text();
    return (JSON.parse(status) as { settled: boolean }).settled;
  };
  await until('all is settled', settled);
  people = (await Promise.all(pigeonholes.map((id) => truthOf(sandbox.baseUrl, 'attendees', id)))).flat();
  const [first, second] = people.filter(({ Email: email }) => typeof email === 'string');
  gone = [
    { asked: String(first!['Email']).toUpperCase(), person: first! },
    { asked: `id:${String(second!['id'])}`, person: second! },
  ];
  for (const { asked } of gone) await forgetByApi(port, headers, asked);
  histories = await allHistories(temporal);
  program.kill('SIGTERM');
  await program.exited;
  spoken = program.output() + program.errors() + status;
  const receipts = readFileSync(join(folder, 'receipts.ndjson'), 'utf8').split('\n').filter(Boolean);
  held = {
    archive: readArchive(join(folder, 'archive')),
    hooks: receipts.map((line) => (JSON.parse(line) as { change: HeldChange }).change),
  };
  await receiver.close();
  rmSync(folder, { recursive: true });
});
afterAll(async () => {
  program?.kill('SIGKILL'); // if a failure left it running
  await sandbox.close();
});

async function control(path: string, body: unknown = {}): Promise<void> {
  const answer = await fetch(`${sandbox.baseUrl}/_control/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`the sandbox refuses ${path}: ${await answer.text()}`);
}

/** Returns every change of an attendee's consent since the start of the service. */
async function consentChanges(): Promise<readonly KnownConsentChange[]> {
  const answer = await fetch(`${sandbox.baseUrl}/_control/consents`);
  return ((await answer.json()) as { consents: readonly KnownConsentChange[] }).consents;
}

const pigeonholes = [101, 102, 103];

/** Requests the erasure of a person and waits until every place has answered. */
async function forgetByApi(port: number, headers: Record<string, string>, attendee: string): Promise<void> {
  const url = `http://127.0.0.1:${port}/api/erasures`;
  const id = randomUUID();
  const asked = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ id, attendee }) });
  expect(asked.status).toBe(200);
  await until('the person is forgotten', async () => {
    const erasure = (await (await fetch(`${url}/${id}`, { headers })).json()) as { state: string };
    return erasure.state === 'done';
  });
}

/** `<pigeonhole> <field>` of everybody whose consent, as the source shows it now, is such; `among` names them by id. */
async function peopleWho(
  such: (consent: unknown) => boolean,
  field = 'id',
  among?: ReadonlySet<string>,
): Promise<string[]> {
  const named = await Promise.all(
    pigeonholes.map(async (pigeonhole) => {
      const attendees = await truthOf(sandbox.baseUrl, 'attendees', pigeonhole);
      return attendees
        .filter(({ id, consent }) => such(consent) && among?.has(`${pigeonhole} ${String(id)}`) !== false)
        .map((person) => `${pigeonhole} ${String(person[field])}`);
    }),
  );
  return named.flat();
}

/** Makes a word cloud anonymous before the first read, because the conference has no anonymous one. */
async function makeWordCloudAnonymous(): Promise<void> {
  const [answer] = await truthOf(sandbox.baseUrl, 'answers', 101);
  const { id } = answer!['session'] as { id: number };
  const change = {
    op: 'patch',
    list: 'sessions',
    pigeonhole: 101,
    id,
    item: { anonymousResponses: true },
    mirror: false,
  };
  await control('mutations', change);
}

/** Returns every history of this task queue as text with decoded payloads. */
async function allHistories({ address, taskQueue }: { address: string; taskQueue: string }): Promise<string> {
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  // A workflow that erases a person ends after the API has reported the erasure as done.
  const erased = `TaskQueue = '${taskQueue}' and WorkflowType = 'forgetAttendee' and ExecutionStatus = 'Completed'`;
  await until('the workflows of both erasures have ended', async () => {
    const { count } = await client.workflow.count(erased);
    return count === gone.length;
  });
  let text = '';
  toldToForget = [];
  for await (const { workflowId, runId, type } of client.workflow.list({ query: `TaskQueue = '${taskQueue}'` })) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    if (type === 'forgetAttendee') toldToForget.push(...payloadsOf(history));
    text += JSON.stringify(history, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : value,
    );
    await client.workflow
      .getHandle(workflowId)
      .terminate()
      .catch((error: unknown) => {
        // A workflow may have several runs, of which only the last is open.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      });
  }
  await connection.close();
  return text;
}

/** Returns every value of every decoded payload. */
function payloadsOf(history: unknown): unknown[] {
  if (typeof history !== 'object' || history === null) return [history];
  if (history instanceof Uint8Array) return [];
  const { data, metadata } = history as { data?: unknown; metadata?: unknown };
  if (data instanceof Uint8Array && metadata !== undefined) return leavesOf(JSON.parse(Buffer.from(data).toString()));
  return Object.values(history).flatMap((value) =>
    typeof value === 'object' && value !== null ? payloadsOf(value) : [],
  );
}

function leavesOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [value];
}

/** Returns values that identify people: names, addresses and codes. */
function markers(): string[] {
  return people.flatMap((person) =>
    ['Name', 'Email', 'E-mail', 'attendeeCode']
      .map((field) => person[field])
      .filter((value) => typeof value === 'string' && value.length > 3),
  ) as string[];
}

const flaggedLists = listsWith(({ shows }) => shows === 'an author with a flag');

/** Returns the ids of the attendees in an interaction. */
function peopleIn(data: Readonly<Record<string, unknown>>): string[] {
  const { attendeeId, attendee } = data as { attendeeId?: unknown; attendee?: { id?: unknown } };
  return [attendeeId, attendee?.id].filter((id) => id !== undefined && id !== null).map(String);
}

describe('a whole run', () => {
  it('shows no name, address, code or key in its log, its status and its histories', () => {
    expect(markers().length).toBeGreaterThan(200);
    expect(spoken.length).toBeGreaterThan(10_000);
    expect(histories.length).toBeGreaterThan(10_000);
    const said = (text: string): string[] => [...markers(), apiKey, secret].filter((marker) => text.includes(marker));
    expect(said(spoken)).toEqual([]);
    expect(said(histories)).toEqual([]);
  });

  it('erases people without personal data in the workflows', () => {
    // The input is the request's id; the output is counts and a state.
    expect(toldToForget.filter((value) => value === 'finished')).toHaveLength(2);
    const texts = toldToForget.map((value) => String(value).toLowerCase());
    for (const { asked, person } of gone) {
      const theirs = [asked, ...Object.values(person)].filter((value) => ['string', 'number'].includes(typeof value));
      const told = theirs.map((value) => String(value).toLowerCase()).filter((value) => value.length > 3);
      expect(told.length).toBeGreaterThan(3);
      expect(told.filter((value) => texts.includes(value))).toEqual([]);
    }
    expect(JSON.stringify(held.archive)).not.toContain(`"${String(gone[0]!.person['Email'])}"`);
  });

  it.each(['archive', 'hooks'] as const)('gives %s no person of an anonymous item, on any list', async (sink) => {
    const sessions = new Map<unknown, unknown>();
    const checked: Record<string, number> = {};
    for (const pigeonhole of [101, 102, 103]) {
      for (const { id, anonymousResponses } of await truthOf(sandbox.baseUrl, 'sessions', pigeonhole))
        sessions.set(id, anonymousResponses);
      // By the source's own flags: a row that has lost its flag on the way is what this looks for.
      const flags = new Map<string, boolean>();
      for (const list of flaggedLists) {
        for (const row of await truthOf(sandbox.baseUrl, list, pigeonhole)) {
          flags.set(`${list} ${String(row['id'])}`, (row['attendee'] as { anonymous?: unknown }).anonymous === true);
        }
      }
      for (const change of held[sink].filter((each) => each.pigeonholeId === pigeonhole && each.data !== null)) {
        const { list, data } = change;
        if (flags.get(`${list} ${change.key}`) === true) {
          expect(data!['attendee']).toEqual({ anonymous: true });
          expect(JSON.stringify(data)).not.toMatch(/attendeeId|attendeeCode/);
          checked[list] = (checked[list] ?? 0) + 1;
        }
        const session = (data!['session'] as { id?: unknown } | undefined)?.id;
        const facts = factsOf(list);
        const flag = facts?.flagIn == null ? sessions.get(session) : flags.get(`${facts.flagIn} ${change.key}`);
        if (flag === true && facts?.shows === 'an author without a flag') {
          expect({ list, keys: Object.keys(data!) }).toEqual({
            list,
            keys: expect.not.arrayContaining(['attendeeId']),
          });
          expect(JSON.stringify(data)).not.toMatch(/attendeeCode/);
          checked[list] = (checked[list] ?? 0) + 1;
        }
      }
    }
    // Every list of this conference that has anonymous items was checked.
    expect(Object.keys(checked).toSorted()).toEqual(authoredLists.toSorted());
  });

  it('sends the webhook, which requires consent, no interaction that identifies a person without consent', async () => {
    // Earlier interactions of a person who had given consent at any time may identify them: they are not judged.
    const never = (await peopleWho((consent) => !obtained(consent))).filter((name) => !everObtained.has(name));
    expect(never.length).toBeGreaterThan(20);
    const interactions = held.hooks.filter(({ list, data }) => list !== 'attendees' && data !== null);
    const named = interactions.flatMap(({ pigeonholeId, list, key, data }) =>
      peopleIn(data!).map((id) => ({ list, key, who: `${pigeonholeId} ${id}` })),
    );
    expect(named.length).toBeGreaterThan(20); // people who have given it are named
    expect(named.filter(({ who }) => never.includes(who))).toEqual([]);

    // A code is unique in its pigeonhole only.
    const codes = await peopleWho(() => true, 'attendeeCode', new Set(never));
    expect(codes.length).toBeGreaterThan(20);
    const told = interactions.map(({ pigeonholeId, data }) => {
      const { attendee } = data as { attendee?: { attendeeCode?: unknown } };
      return `${pigeonholeId} ${String(attendee?.attendeeCode)}`;
    });
    expect(codes.filter((code) => told.includes(code))).toEqual([]);
  });

  it('sends no sink the session links that work for anyone', () => {
    expect(JSON.stringify(held)).not.toContain('"links"');
  });
});
