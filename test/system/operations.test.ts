import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { freeTestPort } from '../free-port.js';
import { apiHeaders } from '../kit/api-headers.js';
import { type ArchivedChange, readArchive } from '../kit/archive.js';
import { attendee } from '../kit/items.js';
import { type Program, processesNaming, startProgram, untilOutput, writeYaml } from '../kit/processes.js';
import { endAll } from '../kit/promises.js';
import { namedMetrics } from '../kit/named-metrics.js';
import { until } from '../until.js';
import { type HookServer, startHookServer } from '../../operations/alerts/hook-server.test-kit.js';

/** Tests the commands of an operator with a running `start` on a frozen conference. */
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-operations-'));
let sandbox: Program;
let main: Program;
let baseUrl: string;
let port: number;
let env: Readonly<Record<string, string>>;
let alerted: HookServer;
let hubspot: HubSpotDouble;
const alertSecret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
/** Bodies that the collector of traces received. */
const traced: string[] = [];
const collector = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => (body += text));
  request.on('end', () => {
    traced.push(`${request.url} ${body}`);
    response.end('{}');
  });
});

beforeAll(async () => {
  alerted = await startHookServer(alertSecret);
  await new Promise<void>((resolve) => void collector.listen(0, '127.0.0.1', resolve));
  sandbox = startProgram('sandbox/main.js', ['--attendees', '60', '--seed', '9', '--frozen'], { cwd: folder });
  baseUrl = (await untilOutput(sandbox, /http:\/\/127\.0\.0\.1:\d+/))[0];
  port = await freeTestPort();
  hubspot = await startHubSpotDouble();
  env = { SERVICE_KEY: 'sandbox-key', ALERT_SECRET: alertSecret, HUBSPOT_TOKEN: 'hubspot-token' };
  writeFileSync(join(folder, 'service.key'), 'sandbox-key\n');
  configure({ archive: '' });
  main = startProgram('cli/main.js', ['start'], { cwd: folder, env });
  await untilOutput(main, /ready/);
  await untilSettled();
});
afterAll(async () => {
  await endAll([main]);
  await endAll([sandbox]);
  await alerted.close();
  await hubspot.close();
  collector.close();
  collector.closeAllConnections();
  expect(processesNaming(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

function configure(sinks: Readonly<Record<string, string>>, more: readonly string[] = [], name?: string): void {
  const lines = [
    `workspaces: { acme: { baseUrl: "${baseUrl}", apiKey: "\${file:./service.key}" } }`,
    `syncs: { all: { workspace: acme, every: { live: 1s }, sinks: [${Object.keys(sinks).join(', ')}] } }`,
    'sinks:',
    ...Object.entries(sinks).map(
      ([sink, keys]) =>
        `  ${sink}: ${keys.startsWith('{') ? keys : `{ type: file, folder: ./${sink}${keys === '' ? '' : `, ${keys}`} }`}`,
    ),
    `server: { port: ${port} }`,
    `alerts: { to: [{ type: webhook, url: "${alerted.url}", secret: "\${ALERT_SECRET}" }], when: { sink-paused: true } }`,
    `telemetry: { otlp: "http://127.0.0.1:${(collector.address() as AddressInfo).port}" }`,
    ...more,
  ];
  if (name === undefined) writeYaml(folder, lines);
  else writeFileSync(join(folder, name), lines.join('\n'));
}

/** Returns the YAML of a HubSpot sink. */
function crm(email: string, token = '${HUBSPOT_TOKEN}'): string {
  return `{ type: hubspot, token: "${token}", baseUrl: "${hubspot.url}", lists: [attendees], consent: { accept: [obtained, refused, not-asked, not-known] }, records: [{ from: attendees, object: contacts, match: [email], properties: { email: '$email(${email})', firstname: item.Name } }] }`;
}

async function run(...args: string[]): Promise<{ code: number | null; out: string; errors: string }> {
  const program = startProgram('cli/main.js', args, { cwd: folder, env });
  const code = await program.exited;
  return { code, out: program.output(), errors: program.errors() };
}

async function json<T>(...args: string[]): Promise<T> {
  const { code, out, errors } = await run(...args, '--json');
  expect([args, code, errors]).toEqual([args, 0, '']);
  return JSON.parse(out) as T;
}

interface SinkStatus {
  readonly name: string;
  readonly state: string;
  readonly delivered: number;
  readonly withheld: Readonly<Record<string, number>>;
  readonly withholding: readonly { readonly text: string }[];
  readonly backlog: number;
  readonly pause: { readonly reason: string; readonly actor: string } | null;
  readonly observation: { readonly wouldSend: number } | null;
  readonly approval: { readonly reason: string } | null;
}

/** Returns the output of `status --json` without starting a process. */
async function status(): Promise<{ configuration: number; settled: boolean; sinks: SinkStatus[] }> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/status`, { headers: apiHeaders(folder) });
  return (await answer.json()) as { configuration: number; settled: boolean; sinks: SinkStatus[] };
}

/** Joins the lines of wrapped terminal output. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

async function untilSettled(): Promise<void> {
  await until('everything is settled', async () => (await status()).settled);
}

function linesOf(sink: string): readonly (ArchivedChange & { readonly replay?: string })[] {
  return existsSync(join(folder, sink)) ? readArchive(join(folder, sink)) : [];
}

describe('a running pigeonpost', () => {
  it('pauses with a reason that others see, and resumes', async () => {
    const { workspaces } = await json<{ workspaces: { pigeonholes: { id: number }[] }[] }>('status');
    const id = workspaces[0]!.pigeonholes.map((pigeonhole) => pigeonhole.id).find((each) => each > 0)!;
    expect((await run('pause', `pigeonhole:acme/${id}`, '--reason', 'the room is rebuilt')).out).toBe(
      `pigeonhole acme/${id} is paused\n`,
    );
    expect((await run('status')).out).toMatch(/paused.*the room is rebuilt \(/);
    expect((await run('resume', `pigeonhole:acme/${id}`)).out).toBe(`pigeonhole acme/${id} is resumed\n`);
  });

  it('is found by commands without the secrets of its file, and reports if there was nothing to resume', async () => {
    const bare = async (...args: string[]) => {
      const program = startProgram('cli/main.js', args, { cwd: folder, env: { SERVICE_KEY: '', ALERT_SECRET: '' } });
      return { code: await program.exited, out: program.output(), errors: program.errors() };
    };
    expect(await bare('status')).toMatchObject({ code: 0, errors: '' });
    expect(await bare('pause', 'acme')).toEqual({ code: 0, out: 'workspace acme is paused\n', errors: '' });
    expect(await bare('resume', 'acme')).toMatchObject({ out: 'workspace acme is resumed\n' });
    expect((await bare('resume', 'acme')).out).toBe(
      'workspace acme was not paused. To end a wait, run "pigeonpost try-now workspace:acme"\n',
    );
    expect(await bare('pause', 'archiv')).toMatchObject({ code: 2, errors: expect.stringContaining('is unknown') });
    const wrong = await bare('pause', '--reson', 'x');
    expect(wrong).toMatchObject({
      code: 2,
      errors: expect.stringContaining('(run pigeonpost pause --help for its usage)'),
    });
  });

  it('is not started a second time, neither from its folder nor at its port from another one', async () => {
    expect(await run('start')).toMatchObject({
      code: 1,
      errors: expect.stringContaining(
        `pigeonpost: pigeonpost already runs with this configuration at http://127.0.0.1:${port}: "pigeonpost status" shows it. To start it again, stop it first\n`,
      ),
    });
    const other = mkdtempSync(join(tmpdir(), 'pigeonpost-other-'));
    for (const file of ['pigeonpost.yaml', 'service.key'])
      writeFileSync(join(other, file), readFileSync(join(folder, file)));
    const second = startProgram('cli/main.js', ['start'], { cwd: other, env });
    expect(await second.exited).toBe(1);
    expect(second.errors()).toContain(
      `cannot listen on 127.0.0.1:${port}: another process, perhaps pigeonpost itself, already listens there`,
    );
    rmSync(other, { recursive: true });
  });

  it('is not controlled by commands from another folder unless address and token are given', async () => {
    const other = mkdtempSync(join(tmpdir(), 'pigeonpost-other-'));
    const elsewhere = async (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
      const program = startProgram('cli/main.js', args, { cwd: other, env: { ...env, ...more } });
      return { code: await program.exited, out: program.output(), errors: program.errors() };
    };
    const init = ['init', '--service', baseUrl, '--sink', 'file', '--yes', '--no-check'];
    expect((await elsewhere([...init, '--key-variable', 'SERVICE_KEY'])).code).toBe(0);
    const file = join(other, 'pigeonpost.yaml');
    writeFileSync(file, `${readFileSync(file, 'utf8').replace(/^server:\n.*$/m, '')}\nserver: { port: ${port} }\n`);
    for (const args of [['status'], ['pause', 'sink:archive'], ['import', 'list']]) {
      expect(await elsewhere(args)).toMatchObject({
        code: 3,
        out: '',
        errors: expect.stringContaining(
          `the pigeonpost at http://127.0.0.1:${port} belongs to another configuration, not to ${file}`,
        ),
      });
    }
    expect((await status()).sinks.find(({ name }) => name === 'archive')!.state).not.toBe('paused');

    const given = ['--url', `http://127.0.0.1:${port}`];
    expect(await elsewhere([...given, 'status'])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('PIGEONPOST_TOKEN'),
    });
    const token = { PIGEONPOST_TOKEN: readFileSync(join(folder, 'data/api.token'), 'utf8').trim() };
    expect(await elsewhere([...given, 'status', '--json'], token)).toMatchObject({ code: 0, errors: '' });
    expect((await elsewhere([...given, 'resume', 'archive'], token)).out).toContain('was not paused');
    rmSync(other, { recursive: true });
  });

  it('is ready, and serves all metrics named in deploy/, including those of the Temporal SDK, at one address', async () => {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([200, 'ok']);
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/plain/)]);
    const text = await answer.text();
    const names = text.split('\n').flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? []);
    expect(names.filter((name, position) => names.indexOf(name) !== position)).toEqual([]);
    const named = namedMetrics();
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !names.includes(name))).toEqual([]);
    expect(text).toMatch(/^pigeonpost_service_requests_total\{workspace="acme",code="200"\} [1-9]/m);
    expect(text).toMatch(/^pigeonpost_undelivered_age_seconds\{sync="all",sink="archive"\} 0$/m);
    expect(text).toMatch(/^pigeonpost_delivered_changes_total\{sink="archive"\} [1-9]/m);
  });

  it('alerts its receivers of a test and of a pause, without reasons and personal data, also in metrics, traces and log', async () => {
    const tested = await run('alerts', 'test');
    expect(tested).toMatchObject({ code: 0, out: expect.stringMatching(/^webhook 127\.0\.0\.1:\d+: delivered\n$/) });
    expect((await run('pause', 'sink:archive', '--reason', 'Mary Marker asked for it')).code).toBe(0);
    await until('the pause is reported', () => alerted.taken.length === 2);
    expect((await run('alerts', 'list')).out).toMatch(/^Sink archive is paused \(noticed at \d{4}-/);
    expect(alerted.taken.map(({ type, data }) => `${type} ${data['subject']}`)).toEqual([
      'alert.test ',
      'alert.raised archive',
    ]);
    expect((await run('resume', 'sink:archive')).code).toBe(0);
    await until('spans are sent', () => traced.some((body) => body.includes('request.id')));
    expect(traced.filter((body) => !body.startsWith('/v1/traces {'))).toEqual([]);

    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const told = {
      alerts: JSON.stringify(alerted.taken),
      metrics,
      traces: traced.join(''),
      log: main.output() + main.errors(),
    };
    const people = linesOf('archive').flatMap(({ list, data }) =>
      list === 'attendees' && data !== null ? [data] : [],
    );
    const personal = people.flatMap((person) => ['Name', 'Email', 'attendeeCode'].map((field) => person[field]));
    const known = personal.filter((value) => typeof value === 'string' && value.length > 5) as string[];
    expect(known.length).toBeGreaterThan(100);
    for (const [where, text] of Object.entries(told)) {
      expect([where, text.length > 100]).toEqual([where, true]);
      expect([
        where,
        [...known, 'Mary Marker', alertSecret, 'in-the-address'].filter((value) => text.includes(value)),
      ]).toEqual([where, []]);
    }
  });

  it('sweeps all lists on request', async () => {
    /** Returns the number of pigeonholes whose attendees were read from the first page; only the live one is polled often. */
    const walked = async (): Promise<number> => {
      const answer = await fetch(`${baseUrl}/_control/requests?last=1000`);
      const { requests } = (await answer.json()) as { requests: { path: string; query: string }[] };
      const walks = requests.filter(({ path, query }) => path.endsWith('/attendees') && !query.includes('cursor'));
      return new Set(walks.map(({ path }) => path)).size;
    };
    await fetch(`${baseUrl}/_control/requests`, { method: 'DELETE' });
    expect((await run('sweep', 'workspace:acme', '--list', 'attendees')).out).toBe(
      'workspace acme is being swept: attendees\n',
    );
    await until('attendees of all three are read from the first page', async () => (await walked()) === 3);
    expect(await run('sweep', 'workspace:acme', '--list', 'atendees')).toMatchObject({
      code: 2,
      errors: 'pigeonpost: "atendees" is not a list: did you mean "attendees"?\n',
    });
  });

  it('answers an assistant by the Model Context Protocol, with the rights of its token, and records what it does', async () => {
    const tokens = await json<{ token: string }>('token', 'create', 'assistant', '--role', 'viewer', '--expires', '1d');
    const url = `http://127.0.0.1:${port}`;
    const open = async (given: { readonly token?: string; readonly options?: readonly string[] }): Promise<Client> => {
      const client = new Client({ name: 'test', version: '1' });
      const instance = given.token === undefined ? [] : ['--url', url];
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [join(__dirname, '../../dist/cli/main.js'), ...instance, 'mcp', ...(given.options ?? [])],
        env: { ...env, ...(given.token === undefined ? {} : { PIGEONPOST_TOKEN: given.token }) },
        cwd: folder,
      });
      await client.connect(transport);
      return client;
    };
    const call = async (client: Client, name: string, given: Record<string, unknown> = {}): Promise<string> => {
      const { content, isError } = await client.callTool({ name, arguments: given });
      return `${isError === true ? 'ERROR ' : ''}${(content as { text: string }[])[0]!.text}`;
    };
    const viewer = await open({ token: tokens.token, options: ['--personal', '--allow-actions'] });
    try {
      expect(await call(viewer, 'status')).toContain('archive (file)');
      expect(await call(viewer, 'problems')).toMatch(/^no problems$|remedy: /);
      const [one] = linesOf('archive').filter(({ list }) => list === 'attendees');
      expect(await call(viewer, 'why', { item: `attendees:${one!.key}` })).toContain('archive: delivered');
      const preview = await call(viewer, 'preview', { sink: 'archive', item: `attendees:${one!.key}` });
      expect(preview).toContain('(text)');
      expect(preview).not.toContain(String(one!.data!['Name']));
      expect(await call(viewer, 'find', { text: 'ada', personal: true })).toMatch(/^ERROR .*role privacy or admin/);
      expect(await call(viewer, 'pause', { target: 'sink:archive' })).toMatch(/^ERROR .*role operator or admin/);
    } finally {
      await viewer.close();
    }
    const own = await open({ options: ['--allow-actions'] });
    try {
      expect(await call(own, 'pause', { target: 'sink:archive', reason: 'a test' })).toBe('sink archive is paused');
      expect((await status()).sinks[0]!.pause).toMatchObject({
        reason: 'a test',
        actor: expect.stringContaining('(assistant)'),
      });
      expect(await call(own, 'resume', { target: 'sink:archive' })).toBe('sink archive is resumed');
    } finally {
      await own.close();
    }
    const { out } = await run('audit-log', '--json');
    expect(out).toMatch(
      /"who":"assistant"[^}]*"action":"POST \/api\/actions"|"action":"POST \/api\/actions"[^}]*"who":"assistant"/,
    );
    expect((await run('token', 'revoke', 'assistant', '--yes')).code).toBe(0);
  });

  it('replays the requested changes to a sink', async () => {
    const before = linesOf('archive').length;
    const archive = async (): Promise<SinkStatus> => (await status()).sinks.find(({ name }) => name === 'archive')!;
    const { delivered: deliveredBefore } = await archive();
    const counted = await run('replay', 'archive', '--list', 'sessions', '--dry-run');
    expect(counted.out).toMatch(/^archive sessions: \d+\n\d+ to send; nothing was sent\n$/);
    const sessions = linesOf('archive').filter(({ list }) => list === 'sessions').length;
    const started = await json<{ id: string }>(
      'replay',
      'sink:archive',
      '--list',
      'sessions',
      '--reason',
      'lost there',
    );
    await until('the replay is in the file', () => linesOf('archive').length === before + sessions);
    expect(linesOf('archive').filter(({ replay }) => replay === started.id)).toHaveLength(sessions);
    await untilSettled();
    const again = 'delivered again by a replay';
    const [{ key, pigeonholeId }] = linesOf('archive').filter(({ replay }) => replay === started.id) as [
      ArchivedChange,
    ];
    const why = await run('why', `sessions:${key}`, '--pigeonhole', String(pigeonholeId));
    expect(why.out.match(/archive: .*$/gm)).toEqual([
      'archive: delivered; configuration 1',
      `archive: ${again}; configuration 1; replay ${started.id}`,
    ]);
    const asked = `http://127.0.0.1:${port}/api/why?list=sessions&key=${key}&pigeonhole=${pigeonholeId}`;
    expect(await (await fetch(asked, { headers: apiHeaders(folder) })).json()).toMatchObject({
      items: [{ revisions: [{ sinks: [{ outcome: 'delivered' }, { outcome: again, replay: started.id }] }] }],
    });
    expect((await archive()).delivered).toBe(deliveredBefore + sessions); // every line that `why` calls delivered counts
    expect(await run('replay', 'nobody')).toMatchObject({ code: 4 });
    expect(await run('replay')).toMatchObject({ code: 2, errors: expect.stringContaining('--all') });
    expect(await run('replay', '--all', '--from', 'yesterday')).toMatchObject({ code: 2 });
  });

  it('plans and applies a changed file without a restart, and an observing sink sends once it is approved', async () => {
    configure({ archive: '', late: 'mode: observe, lists: [sessions]' }, [], 'changed.yaml');
    const planned = await run('config', 'plan', '--config', 'changed.yaml');
    expect(planned).toMatchObject({ code: 0, errors: '' });
    expect(planned.out).toMatch(
      /^changed: sync all\n {2}sinks: \["archive"\] becomes \["archive","late"\]\nadded: sink late\n/,
    );
    expect(planned.out).toMatch(/sink late will count, without sending, \d+ sessions/);
    expect((await status()).configuration).toBe(1);
    expect(await run('config', 'apply', '--config', 'changed.yaml')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('this pigeonpost was started with'),
    });

    configure({ archive: '', late: 'mode: observe, lists: [sessions]' });
    expect((await run('config', 'apply')).out).toMatch(/configuration 2 is current\n$/);
    await until(
      'the new sink has counted',
      async () => ((await status()).sinks.find(({ name }) => name === 'late')?.observation?.wouldSend ?? 0) > 0,
    );
    expect(linesOf('late')).toEqual([]);
    expect((await run('sink', 'approve', 'late', '--reason', 'counted')).code).toBe(2);
    expect((await run('sink', 'approve', 'late', '--yes', '--reason', 'counted')).out).toMatch(
      /^sink late is approved: it sends \d+ changes and all later ones\n$/,
    );
    await until('the approved sink has sent', () => linesOf('late').length > 0);
    await untilSettled();
    expect((await status()).sinks.find(({ name }) => name === 'late')!.approval).toMatchObject({ reason: 'counted' });
    expect(await run('config', 'apply')).toMatchObject({
      out: 'nothing has changed: configuration 2 is current\n',
      errors:
        'a ${NAME} keeps the value from the start of pigeonpost: restart to change it. ${file:/path} is read again\n',
    });
    expect(await run('sink', 'approve', 'archive')).toMatchObject({ code: 1 });
    expect(await run('sink', 'approve', 'nobody')).toMatchObject({ code: 4 });
  });

  it('reports a typo in a mapping as a problem everywhere, and asks before it applies it and before it sends the corrected records', async () => {
    const late = 'mode: observe, lists: [sessions]';
    const crmNow = async (): Promise<SinkStatus> => (await status()).sinks.find(({ name }) => name === 'crm')!;
    const figure = async (name: string): Promise<string | undefined> => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return new RegExp(`^pigeonpost_${name}{[^}]*sink="crm"[^}]*} (\\S+)$`, 'm').exec(text)?.[1];
    };
    configure({ archive: '', late, crm: crm('item.email') });
    const refused = await run('config', 'apply');
    expect(refused.code).toBe(2);
    expect(refused.errors).toMatch(/The mapping of sink crm does not send (\d+) of \1 attendees\. .*add --yes\n$/);
    expect((await run('config', 'apply', '--yes')).code).toBe(0);
    await until('all of it is withheld', async () => (await crmNow())?.withheld['no-match'] !== undefined);
    await untilSettled();
    const withheld = (await crmNow()).withheld['no-match']!;
    const says = `all ${withheld} attendees lack a value for email: crm.records[0].match, which reads item.email; fields seen: "Email"`;
    expect((await crmNow()).withholding.map(({ text }) => text)).toEqual([says]);
    expect(refused.out).toContain(`PROBLEM sink crm: ${says}\n`);
    expect(oneLine((await run('status')).out)).toContain(says);
    expect(await figure('sink_withholding')).toBe('1');
    expect(await figure('withheld_changes')).toBe(String(withheld));
    const audited = (await run('audit-log', '--json')).out;
    const checked = await run('check');
    expect([checked.code, checked.out]).toEqual([1, expect.stringContaining(`PROBLEM sink crm: ${says}`)]);
    expect((await run('audit-log', '--json')).out).toBe(audited);
    const previewed = await run('preview', '--sink', 'crm', '--list', 'attendees', '--limit', '1');
    expect(previewed.out).toContain(`  attendees: 0 to send, ${withheld} withheld: `);
    expect(previewed.out).toContain(`PROBLEM ${says}`);
    const ready = await run('ready', 'acme/101');
    expect([ready.code, oneLine(ready.out)]).toEqual([1, expect.stringContaining(says)]);
    await until('the alert has arrived', () =>
      alerted.taken.some((alert) => JSON.stringify(alert).includes('withholds what it should probably send')),
    );

    configure({ archive: '', late, crm: crm('item.Email') });
    const planned = await run('config', 'plan');
    const toSend = /sink crm will receive (\d+) attendees \(withheld until now: the changed mapping sends it\)/.exec(
      planned.out,
    );
    expect(toSend).not.toBeNull();
    expect(await run('config', 'apply')).toMatchObject({
      code: 2,
      errors: expect.stringContaining(`sends ${toSend![1]} changes to sinks.`),
    });
    expect((await run('config', 'apply', '--yes')).code).toBe(0);
    const sent = Number(toSend![1]);
    await until('it is sent', async () => (await crmNow()).delivered === sent);
    expect(await crmNow()).toMatchObject({ withholding: [] });
    expect((await run('replay', 'crm')).code).toBe(0);
    await until('a replay is counted', async () => (await crmNow()).delivered === 2 * sent);
    await until('the metric says so', async () => (await figure('delivered_changes_total')) === String(2 * sent));
    expect((await run('status')).out).toMatch(new RegExp(`^crm \\(hubspot\\) +${2 * sent} `, 'm'));
    const onPage = await fetch(`http://127.0.0.1:${port}/api/sinks/crm`, { headers: apiHeaders(folder) });
    expect(await onPage.json()).toMatchObject({ delivered: 2 * sent });
    await until('the metric ends', async () => (await figure('sink_withholding')) === '0');
    configure({ archive: '', late });
    expect((await run('config', 'apply')).code).toBe(0);
    await untilSettled();
  });

  it('creates an event from a file, once', async () => {
    const lines = [
      'id: summit',
      'pigeonhole: { name: Summit, startDate: 2027-01-11, endDate: 2027-01-12, timezone: Europe/Berlin }',
      'sessions: [{ id: words, name: In one word, type: poll_word_cloud }]',
    ];
    writeFileSync(join(folder, 'event.yaml'), lines.join('\n'));
    expect(await run('apply', 'event.yaml')).toMatchObject({ code: 2, errors: expect.stringContaining('--yes') });
    expect((await run('apply', 'event.yaml', '--yes')).out).toMatch(
      /pigeonhole +created, id \d+.*\n +words +created, id \d+\n2 created\n$/,
    );
    const { objects } = await json<{ objects: { state: string }[] }>('apply', 'event.yaml', '--new', 'words');
    expect(objects.map(({ state }) => state)).toEqual(['exists', 'exists']);
    expect(await run('apply', 'event.yaml', '--use', 'words')).toMatchObject({ code: 2 });
    expect(await run('apply', 'nowhere.yaml')).toMatchObject({ code: 2 });
  });

  it('rejects a variable that was set after its start, and says to restart it or to use a file', async () => {
    configure({ archive: '', late: '', crm: crm('item.Email', '${NEW_TOKEN}') });
    const withToken = startProgram('cli/main.js', ['config', 'apply'], {
      cwd: folder,
      env: { ...env, NEW_TOKEN: 'set' },
    });
    expect(await withToken.exited).toBe(2);
    expect(withToken.errors()).toContain(
      'sinks.crm.token: the environment variable NEW_TOKEN is not set in the running process; restart pigeonpost with it, or write the value to a file and ${file:/path} here, which "config apply" reads again',
    );
    configure({ archive: '', late: '' });
  });

  it('rejects an invalid file, keeps the current configuration, and drops a removed sink', async () => {
    configure({ archive: '', late: '' }, ['sinkz: {}']);
    expect(await run('config', 'apply')).toMatchObject({ code: 2, errors: expect.stringContaining('sinkz') });
    configure({ archive: '' });
    const { out } = await run('config', 'apply');
    expect(out).toMatch(/removed: sink late \(archived with its watermark: everything was delivered/);
    expect((await status()).sinks.map(({ name }) => name)).toEqual(['archive']);
    await untilSettled();
  });
});

describe('a service that stops answering', () => {
  it('is one incident with the same text in status, page, metrics and log, and try-now ends the wait', async () => {
    const control = async (method: string, body?: object): Promise<void> => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      await fetch(`${baseUrl}/_control/faults`, { method, ...sent });
    };
    interface Problem {
      readonly code: string;
      readonly title: string;
      readonly text: string;
    }
    const ask = async <T>(path: string): Promise<T> =>
      (await (await fetch(`http://127.0.0.1:${port}${path}`, { headers: apiHeaders(folder) })).json()) as T;
    const problems = async (): Promise<readonly Problem[]> =>
      (await ask<{ problems: readonly Problem[] }>('/api/status')).problems;
    const isDown = (found: readonly Problem[]): boolean => found.some(({ code }) => code === 'service-down');
    const sentence = 'The service has not answered workspace acme since ';
    const timesLogged = (): number => main.errors().split(sentence).length - 1;
    const loggedBefore = timesLogged(); // a busy machine may have delayed an earlier answer
    await control('POST', { kind: 'dropBefore' });
    await until('the outage is known', async () => isDown(await problems()));
    const { out } = await run('status');
    const { troubles } = await ask<{ troubles: readonly Problem[] }>('/api/overview');
    expect(troubles.map(({ code }) => code)).toEqual(['service-down']);
    expect(troubles[0]!.title).toMatch(new RegExp(`^${sentence}.* UTC; \\d+ lists wait$`));
    expect(out).toContain(sentence);
    expect(out).toContain('pigeonpost try-now workspace:acme');
    await until('the metric says so', async () =>
      /pigeonpost_problems\{code="service-down"\} 1/.test(
        await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: apiHeaders(folder) })).text(),
      ),
    );
    // Only one line, even if many streams notice it; none within ten minutes of an earlier one.
    expect(timesLogged()).toBe(Math.max(1, loggedBefore));

    await control('DELETE');
    expect((await run('try-now', 'workspace:acme')).out).toBe('workspace acme is retried now\n');
    await until('it answers again', async () => !isDown(await problems()));
    expect((await run('pause', 'sink:archive')).code).toBe(0);
    expect(await run('try-now', 'sink:archive')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('pigeonpost resume sink:archive'),
    });
    expect((await run('resume', 'sink:archive')).code).toBe(0);
    await untilSettled();
  });
});

describe('a workspace', () => {
  const control = async (method: string, path: string, body: object): Promise<void> => {
    await fetch(`${baseUrl}/_control/${path}`, { method, body: JSON.stringify(body) });
  };
  const eventStates = async (): Promise<(string | undefined)[]> =>
    (await run('status')).out
      .split('\n')
      .flatMap((line) => /^\S.* \(\d+\) +live +(up to date|\S+)/.exec(line)?.[1] ?? []);
  /** Waits for the lists that are still due after an outage: until they are read, the event is catching up. */
  const untilUpToDate = async (): Promise<void> =>
    await until('the event is up to date', async () => (await eventStates()).join() === 'up to date');

  it('whose key the service refuses shows no event as up to date, in status and on the page', async () => {
    await untilUpToDate();
    await control('POST', 'keys', { accepted: ['another-key'] });
    await until(
      'the key is refused',
      async () => !(await status()).settled && (await run('status')).out.includes('refuses the key'),
    );
    expect(await eventStates()).toEqual(['waiting']);
    const answer = await fetch(`http://127.0.0.1:${port}/api/pigeonholes`, { headers: apiHeaders(folder) });
    const { items } = (await answer.json()) as { items: { status: string; state: string }[] };
    expect(items.filter(({ status: of }) => of === 'live').map(({ state }) => state)).toEqual(['waiting']);
    await control('POST', 'keys', { accepted: ['sandbox-key'] });
    expect((await run('try-now', 'workspace:acme')).code).toBe(0);
    await untilSettled();
    await untilUpToDate();
  });

  it('continues with another key as soon as the file of the key is changed and applied', async () => {
    await control('POST', 'keys', { accepted: ['another-key'] });
    const refused = async (): Promise<string> => oneLine((await run('status')).out);
    await until('the key is refused', async () => (await refused()).includes('refuses the key of workspace acme'));
    expect(await refused()).toContain('or run "pigeonpost config apply" if the key is in a file');
    writeFileSync(join(folder, 'service.key'), 'another-key\n');
    expect(await run('config', 'apply')).toMatchObject({ code: 0, errors: '' });
    await until('it is read again', async () => !(await refused()).includes('refuses the key'));
    await untilSettled();
    await untilUpToDate();
  });

  it('that gets a quota is never shown with more requests used than the quota has', async () => {
    await control('PATCH', 'knobs', { quota: { limit: 60, windowSeconds: 3600, headers: true } });
    let used: string[] = [];
    await until('the quota is shown', async () => {
      used = / ([\d,]+) of 60 used/.exec((await run('status')).out)?.slice(1) ?? [];
      return used.length > 0;
    });
    expect(Number(used[0])).toBeLessThanOrEqual(60);
    await control('PATCH', 'knobs', { quota: { limit: 1_000_000, windowSeconds: 3600, headers: true } });
    expect((await run('try-now', 'workspace:acme')).code).toBe(0);
    await until('the larger quota is shown', async () => (await run('status')).out.includes(' of 1,000,000 used'));
    await untilSettled();
  });
});

describe('a backup of a running pigeonpost', () => {
  it('can be restored after a stop without duplicates: the sinks wait until an operator resumes them', async () => {
    expect(await run('backup', 'ledger.tar.gz')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^ledger\.tar\.gz is/),
    });
    const present = await fetch(`http://127.0.0.1:${port}/api/status`, { headers: apiHeaders(folder) });
    const { workspaces } = (await present.json()) as {
      workspaces: { pigeonholes: { id: number; status: string }[] }[];
    };
    const { id: pigeonhole } = workspaces[0]!.pigeonholes.find(({ status: stands }) => stands === 'live')!;
    const late = attendee(990_001);
    const insert = [{ op: 'insert', list: 'attendees', pigeonhole, id: late.id, item: late, exact: true }];
    await fetch(`${baseUrl}/_control/mutations`, { method: 'POST', body: JSON.stringify(insert) });
    await until('who came after the backup is delivered', () => delivered().includes('attendees 990001 1'));
    await untilSettled();
    const before = delivered();

    await endAll([main]);
    expect(await run('restore', 'ledger.tar.gz', '--yes')).toMatchObject({ code: 0 });
    main = startProgram('cli/main.js', ['start'], { cwd: folder, env });
    await untilOutput(main, /ready/);
    const archive = async (): Promise<SinkStatus> => (await status()).sinks[0]!;
    await until('the late one is read again', async () => (await archive()).backlog > 0);
    expect(await archive()).toMatchObject({
      name: 'archive',
      state: 'paused',
      pause: { reason: expect.stringContaining('restored from the backup of ') },
    });
    expect((await run('resume', 'sink:archive')).code).toBe(0);
    await until('it is delivered again', async () => {
      const { settled, sinks } = await status();
      return settled && sinks[0]!.backlog === 0;
    });
    expect(delivered()).toEqual(before);
  });
});

/** Lines of the archive; a repeated line would be a change that was delivered twice. */
function delivered(): string[] {
  return linesOf('archive')
    .map(({ list, key, revision, replay }) => [list, key, revision, replay].join(' ').trim())
    .toSorted();
}
