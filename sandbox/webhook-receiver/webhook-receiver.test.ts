import { randomBytes, randomUUID } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { runWebhookReceiverCommand } from './run-webhook-receiver-command.js';
import { runWebhookReceiver, type WebhookReceiver } from './run-webhook-receiver.js';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
let folder: string;
let logFile: string;
let receiver: WebhookReceiver;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'webhook-receiver-'));
  logFile = join(folder, 'receipts.ndjson');
  receiver = await runWebhookReceiver({ secrets: [secret], logFile });
});

afterEach(async () => {
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

function changeOf(
  key: string,
  revision: number,
  fields: Record<string, unknown> = {},
): Record<string, unknown> & { id: string } {
  return {
    id: randomUUID(),
    type: revision === 1 ? 'questions.created' : 'questions.updated',
    timestamp: '2026-11-21T09:30:00.000Z',
    workspace: 'acme',
    pigeonholeId: 101,
    sessionId: 5001,
    list: 'questions',
    key,
    revision,
    sequence: revision,
    data: { question: { id: Number(key) } },
    ...fields,
  };
}

/** Signs and posts a change. The given headers replace its own. */
async function post(
  change: { id: string } & Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = JSON.stringify(change);
  const at = new Date();
  const signed = {
    'content-type': 'application/json',
    'webhook-id': change.id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(change.id, at, body),
  };
  return fetch(receiver.url, { method: 'POST', body, headers: { ...signed, ...headers } });
}

const plan = (answer: object): Promise<Response> =>
  fetch(`${receiver.url}_control/answers`, { method: 'POST', body: JSON.stringify(answer) });

const logged = (): { number: number; change: unknown }[] =>
  readFileSync(logFile, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { number: number; change: unknown });

describe('the webhook receiver', () => {
  it('stores signed changes in memory and in its log, and shows them on its control path', async () => {
    const change = changeOf('9001', 1);
    expect((await post(change)).status).toBe(204);
    expect(receiver.receipts()).toEqual([
      expect.objectContaining({ number: 1, id: change.id, list: 'questions', key: '9001', revision: 1, answer: 204 }),
    ]);
    expect(logged().map((line) => line.change)).toEqual([change]);
    const listed = await (await fetch(`${receiver.url}_control/receipts`)).text();
    expect(listed).toBe(`${JSON.stringify(receiver.receipts()[0])}\n`);
  });

  it.each([
    ['another secret', { 'webhook-signature': `v1,${randomBytes(32).toString('base64')}` }],
    ['a time long ago', { 'webhook-timestamp': '1700000000' }],
    ['another id', { 'webhook-id': randomUUID() }],
    ['no signature', { 'webhook-signature': '' }],
  ])('refuses a request with %s', async (_, headers) => {
    expect((await post(changeOf('9001', 1), headers)).status).toBe(401);
    expect(receiver.summary()).toMatchObject({ deliveries: 0, refused: { 401: 1 } });
  });

  it.each([
    ['an additional field', { surprise: 1 }],
    ['an unknown kind', { type: 'questions.changed' }],
    ['the type of another list', { type: 'votes.created' }],
    ['a deletion with data', { type: 'questions.deleted' }],
    ['no data', { data: null }],
    ['links, which open pages for anyone', { data: { links: {} } }],
    ['a passcode, which lets anyone in', { type: 'pigeonholes.created', list: 'pigeonholes', data: { passcode: 'A' } }],
    ['a numeric key', { key: 9001 }],
    ['a revision of 0', { revision: 0 }],
    ['a time without milliseconds', { timestamp: '2026-11-21T09:30:00Z' }],
  ])('refuses a change with %s', async (_, fields) => {
    expect((await post(changeOf('9001', 1, fields))).status).toBe(400);
    expect(receiver.receipts()).toEqual([]);
  });

  const alert = {
    id: randomUUID(),
    type: 'alert.raised',
    timestamp: '2026-11-21T09:30:00.000Z',
    data: {
      occasion: 'sink-failing',
      problem: 'sink-failing',
      subject: 'crm',
      subjects: ['crm'],
      title: 'Sink crm accepts nothing',
      says: 'It answers HTTP 503.',
      todo: null,
      link: null,
    },
  };
  const test = { ...alert, type: 'pigeonpost.test', data: { message: 'A test from pigeonpost.' } };

  it('accepts and records signed alerts and tests of sinks, and does not count them as changes', async () => {
    expect((await post(alert)).status).toBe(204);
    expect((await post(test)).status).toBe(204);
    expect(receiver.notices()).toEqual([alert, test]);
    expect(await (await fetch(`${receiver.url}_control/notices`)).json()).toEqual([alert, test]);
    expect(receiver.summary()).toEqual({ deliveries: 0, refused: {}, lists: {} });
  });

  it('refuses an alert with a wrong signature or an additional field', async () => {
    expect((await post(alert, { 'webhook-signature': `v1,${randomBytes(32).toString('base64')}` })).status).toBe(401);
    expect((await post({ ...alert, data: { ...alert.data, attendee: 'Ada' } })).status).toBe(400);
    expect(receiver.notices()).toEqual([]);
  });

  it('refuses a body without the content type of JSON', async () => {
    expect((await post(changeOf('9001', 1), { 'content-type': 'text/plain' })).status).toBe(415);
  });

  it('counts items, repeats, different bodies with the same id, late revisions and missing ones', async () => {
    const first = changeOf('1', 1);
    await post(first);
    await post(first);
    await post({ ...first, data: { question: { id: 2 } } });
    await post(changeOf('1', 4));
    await post(changeOf('1', 3));
    await post(changeOf('1', 4, { replay: 'replay-1' }));
    await post(changeOf('2', 7));
    expect(receiver.summary().lists).toEqual({
      questions: {
        items: 2,
        deliveries: 7,
        changes: 5,
        repeats: 2,
        differingRepeats: 1,
        outOfOrder: 1,
        missingRevisions: 2,
        replays: 1,
      },
    });
  });

  it('answers the planned number of requests as planned, and then as usual', async () => {
    expect((await plan({ status: 503, retryAfter: '7', count: 2, key: '1' })).status).toBe(204);
    const answers = [await post(changeOf('1', 1)), await post(changeOf('2', 1)), await post(changeOf('1', 1))];
    expect(answers.map(({ status }) => status)).toEqual([503, 204, 503]);
    expect(answers[0]?.headers.get('retry-after')).toBe('7');
    expect((await post(changeOf('1', 1))).status).toBe(204);
    expect(receiver.summary()).toMatchObject({ deliveries: 2, refused: { 503: 2 } });
  });

  it('can close the connection after it has stored the change', async () => {
    await plan({ drop: true, store: true });
    const change = changeOf('1', 1);
    await expect(post(change)).rejects.toThrow('fetch failed');
    expect(receiver.receipts()).toEqual([expect.objectContaining({ id: change.id, answer: 'dropped' })]);
  });

  it('refuses an invalid plan, and deletes plans on request', async () => {
    expect((await plan({ statuz: 500 })).status).toBe(400);
    expect((await fetch(`${receiver.url}_control/answers`, { method: 'POST', body: '{"status":' })).status).toBe(400);
    await plan({ status: 500 });
    await fetch(`${receiver.url}_control/answers`, { method: 'DELETE' });
    expect(await (await fetch(`${receiver.url}_control/answers`)).json()).toEqual([]);
    expect((await post(changeOf('1', 1))).status).toBe(204);
  });

  it('restores its receipts after a restart, and removes an incomplete line', async () => {
    const change = changeOf('1', 1);
    await post(change);
    await receiver.close();
    appendFileSync(logFile, '{"number":2,"rec');
    receiver = await runWebhookReceiver({ secrets: [secret], logFile });
    await post(change);
    expect(receiver.summary().lists.questions).toMatchObject({ deliveries: 2, repeats: 1, differingRepeats: 0 });
    expect(logged().map(({ number }) => number)).toEqual([1, 2]);
  });
});

describe('the command of the webhook receiver', () => {
  const run = async (...argv: string[]) => {
    const stop = new AbortController();
    const said: string[] = [];
    const output = {
      line: (text: string) => {
        said.push(text);
        stop.abort(); // ready: sufficient for a test
      },
      error: (text: string) => void said.push(text),
    };
    return { code: await runWebhookReceiverCommand(argv, stop.signal, output), said: said.join('\n') };
  };

  it('prints one line with its URL when it is ready, and exits with 0 when it is stopped', async () => {
    expect(await run('--secret', secret)).toEqual({
      code: 0,
      said: expect.stringMatching(/^webhook receiver ready at http:\/\/127\.0\.0\.1:\d+\/$/),
    });
  });

  it('exits with 1 if the port is in use and with 2 for invalid arguments', async () => {
    const { port } = new URL(receiver.url);
    expect(await run('--secret', secret, '--port', port)).toMatchObject({ code: 1 });
    expect(await run()).toMatchObject({ code: 2, said: expect.stringContaining('a secret is missing') });
    expect(await run('--secret', secret, '--port', '70000')).toMatchObject({ code: 2 });
    expect(await run('--surprise')).toMatchObject({ code: 2 });
  });
});
