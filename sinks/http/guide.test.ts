import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { DoubleAnswer, DoubleRequest } from '../../sandbox/serve/double-request.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import { GuideSink, kinds, question } from './guide.test-kit.js';
import { allPresets } from './config.js';
import { bodies, item, open, send, stage } from './receiver-stage.test-kit.js';

/** The examples of docs/sinks/http.md as printed, sent to receivers that already contain records. */

const page = readFileSync(join(__dirname, '../../docs/sinks/http.md'), 'utf8');
const blocks = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text]) => text!);

const guide = (block: number, variables: Readonly<Record<string, string>>): Promise<GuideSink> =>
  GuideSink.open({
    page: '../http',
    block,
    replace: { 'https://api.example.com/v2': `${stage.api.url}/v2` },
    variables,
  });

it('docs/sinks/http.md lists a guide of at most one screen for each preset', () => {
  const listed = [...page.matchAll(/^\| \[`(\w+)`\]\(http\/(\w+)\.md\) \|/gm)].map(([, name, file]) => [name, file]);
  expect(listed).toEqual([...allPresets.keys()].toSorted().map((name) => [name, name]));
  for (const [name] of listed) {
    const guideText = readFileSync(join(__dirname, `../../docs/sinks/http/${name}.md`), 'utf8');
    expect([name, guideText.split('\n').length <= 70, guideText.split(/\s+/).length <= 420]).toEqual([
      name,
      true,
      true,
    ]);
  }
});

it.each([...allPresets.keys()])('the stand-in of %s is a fresh account by default', (name) => {
  const source = readFileSync(join(__dirname, `../../sandbox/${name}/start-${name}-double.ts`), 'utf8');
  expect(source).toMatch(/^export const freshAccount = \{/m);
  expect(source).toContain('{ ...freshAccount, ...options }');
});

it('docs/sinks/http.md has three examples', () => {
  expect(blocks).toHaveLength(3);
});

describe('the example without a preset', () => {
  /** A help desk with a colleague's ticket and a ticket that an earlier process created for question 1. */
  let tickets: Map<string, Record<string, unknown>>;
  let sink: GuideSink;

  const desk = ({ method, path, query, headers, body }: DoubleRequest): DoubleAnswer => {
    if (headers['authorization'] !== 'Bearer t0ken') return { status: 401 };
    const [, , kind, id] = path.split('/');
    if (kind === 'me' && method === 'GET') return { status: 200, json: { name: 'pigeonpost' } };
    if (kind !== 'tickets') return { status: 404 };
    if (method === 'GET') {
      const found = [...tickets].filter(([, { key }]) => key !== undefined && key === query.get('key'));
      return { status: 200, json: { tickets: found.map(([ticket, values]) => ({ id: ticket, ...values })) } };
    }
    if (method === 'POST') {
      const created = `t${tickets.size + 1}`;
      tickets.set(created, JSON.parse(body) as Record<string, unknown>);
      return { status: 201, json: { id: created } };
    }
    if (id === undefined || !tickets.has(id)) return { status: 404 };
    if (method === 'DELETE') tickets.delete(id);
    else tickets.set(id, { ...tickets.get(id), ...(JSON.parse(body) as object) });
    return { status: 200, json: { id } };
  };

  beforeEach(async () => {
    tickets = new Map([
      ['t1', { subject: 'Printer', owner: 'a colleague' }],
      ['t2', { subject: 'Old', session: 'Keynote', key: '1', priority: 'high' }],
    ]);
    stage.answers = Array.from({ length: 50 }, () => desk);
    sink = await guide(0, { TICKETS_TOKEN: 't0ken' });
  });
  afterEach(() => sink.close());

  it('passes its check', async () => {
    expect((await sink.check()).filter(({ ok }) => !ok)).toEqual([]);
  });

  it('updates the existing ticket, creates the other one, and changes no other ticket', async () => {
    const both = [question('1', 'When is lunch?'), question('2', 'Why?')];
    expect(kinds(await sink.deliver(both))).toEqual(['delivered', 'delivered']);
    await sink.deliver(both); // a repetition
    expect([...tickets]).toEqual([
      ['t1', { subject: 'Printer', owner: 'a colleague' }],
      ['t2', { subject: 'When is lunch?', session: 'Keynote', key: '1', priority: 'high' }],
      ['t3', { subject: 'Why?', session: 'Keynote', key: '2' }],
    ]);

    await sink.deliver([question('2', 'Why not?')]);
    expect(tickets.get('t3')).toMatchObject({ subject: 'Why not?' });
    await sink.deliver([question('2', null)]);
    expect([...tickets.keys()]).toEqual(['t1', 't2']);
  });

  it('creates a ticket only once if the response was lost', async () => {
    stage.api.faults.add({ effect: { kind: 'dropAfter' }, method: 'POST' });
    expect(kinds(await sink.deliver([question('2', 'Why?')]))).toEqual(['retry']);
    expect(kinds(await sink.deliver([question('2', 'Why?')]))).toEqual(['delivered']);
    expect([...tickets.keys()]).toEqual(['t1', 't2', 't3']);
  });
});

describe('the example with batches', () => {
  const voteOf = (key: string) =>
    subjectOf(sampleChange({ id: `vote-${key}`, list: 'votes', key, data: { attendeeId: Number(key) } }), {});

  it('writes the rows of a batch, and rejects only the row that the receiver refuses', async () => {
    const rows = ({ headers, body }: DoubleRequest): DoubleAnswer => {
      if (headers['x-api-key'] !== 'k3y') return { status: 401 };
      const { rows: sent } = JSON.parse(body) as { rows: { key: string }[] };
      const answers = sent.map(({ key }) => (key === '2' ? { ok: false, code: 'no' } : { ok: true, id: `r${key}` }));
      return { status: 200, json: { rows: answers } };
    };
    stage.answers = [rows];
    const sink = await guide(1, { ROWS_KEY: 'k3y' });
    expect(await sink.deliver(['1', '2', '3'].map(voteOf))).toMatchObject([
      { kind: 'delivered' },
      { kind: 'rejected', cause: 'no' },
      { kind: 'delivered' },
    ]);
    expect(bodies()).toHaveLength(1);
    stage.answers = [() => ({ status: 200 })];
    await sink.deliver([subjectOf(sampleChange({ id: 'gone', list: 'votes', key: '3', data: null }), {})]);
    expect(stage.api.requests.at(-1)).toMatchObject({ method: 'DELETE', path: '/v2/rows/r3' });
    await sink.close();
  });
});

describe('the example with rules for responses', () => {
  it.each([
    [
      { status: 200, json: { error: 'quota' } },
      { kind: 'retry', afterMs: 60_000 },
    ],
    [
      { status: 200, json: { error: 'duplicate' } },
      { kind: 'rejected', cause: 'duplicate' },
    ],
    [{ status: 200, json: { id: 1 } }, { kind: 'delivered' }],
  ])('has the outcome described in the guide: %j', async (answer, outcome) => {
    stage.answers = [() => answer];
    const sink = open(parse(blocks[2]!) as object);
    const subject = item('1');
    const asked = { ...subject, change: { ...subject.change, list: 'qna-questions', data: { content: 'Why?' } } };
    expect(await send(sink, asked)).toMatchObject([outcome]);
    expect(bodies()).toEqual(['{"text":"Why?"}']);
  });
});
