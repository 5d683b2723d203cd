import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import type { ApiClient } from '../api-client.js';
import { createMcpServer, maxAnswerCharacters } from './serve.js';
import type { Allowed } from './tools.js';

const opened: Client[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((client) => client.close()));
});

/** Connects an assistant to a server whose pigeonpost gives these answers, by path. */
async function assistant(answers: Readonly<Record<string, unknown>>, allowed: Partial<Allowed> = {}) {
  const asked: string[] = [];
  const answer = async (path: string, request: unknown) => {
    asked.push(`${path} ${JSON.stringify(request)}`);
    if (!(path in answers)) throw new Error(`the running pigeonpost refuses ${path}`);
    return answers[path];
  };
  let forgotten = 0;
  const client = { get: answer, post: answer } as unknown as ApiClient;
  const instance = {
    found: async () => ({ client, page: async () => 'http://127.0.0.1:8088/', by: 'ana (assistant)' }),
    forget: () => void (forgotten += 1),
  };
  const server = await createMcpServer({ actions: false, personal: false, ...allowed }, instance);
  const [own, other] = InMemoryTransport.createLinkedPair();
  await server.connect(own);
  const mcp = new Client({ name: 'test', version: '1' });
  await mcp.connect(other);
  opened.push(mcp);
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await mcp.callTool({ name, arguments: given });
    return { text: (content as { text: string }[]).map(({ text }) => text).join('\n'), isError: isError === true };
  };
  return { mcp, call, asked, forgotten: () => forgotten };
}

describe('the tools of an assistant', () => {
  it('only read by default, and never ask for people', async () => {
    const { mcp } = await assistant({});
    const { tools } = await mcp.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'status',
      'problems',
      'why',
      'dead_letters',
      'find',
      'preview',
      'search_docs',
      'read_docs',
    ]);
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
    expect(JSON.stringify(tools)).not.toContain('"personal"');
  });

  it('cannot act without --allow-actions, even if an assistant knows their names', async () => {
    const { call, asked } = await assistant({ '/api/actions': { done: true } });
    await expect(call('pause', { target: 'sink:crm' })).rejects.toThrow(/pause/);
    expect(asked).toEqual([]);
  });

  it('act in the name of the person, with --allow-actions', async () => {
    const { mcp, call, asked } = await assistant({ '/api/actions': { done: true } }, { actions: true });
    const { tools } = await mcp.listTools();
    const acting = tools.filter(({ annotations }) => annotations?.readOnlyHint === false);
    expect(acting.map(({ name }) => name)).toEqual(['pause', 'resume', 'redrive']);
    expect(await call('pause', { target: 'sink:crm', reason: 'moving' })).toEqual({
      text: 'sink crm is paused',
      isError: false,
    });
    expect(asked).toEqual([
      '/api/actions {"json":{"do":"pause","kind":"sink","name":"crm","by":"ana (assistant)","reason":"moving"}}',
    ]);
  });

  it('ask for people only with --personal and if the assistant says so', async () => {
    const none = { hits: [], more: false, unread: 0 };
    const { call, asked } = await assistant({ '/api/find': none }, { personal: true });
    await call('find', { text: 'ada' });
    await call('find', { text: 'ada', personal: true });
    expect(asked).toEqual([
      '/api/find {"json":{"text":"ada","limit":20}}',
      '/api/find {"json":{"text":"ada","limit":20,"personal":true}}',
    ]);
  });

  it('answer with the sentence of an error, and look for the running pigeonpost again', async () => {
    const { call, forgotten } = await assistant({});
    const text = 'the running pigeonpost refuses /api/overview';
    expect([await call('problems'), forgotten()]).toEqual([{ text, isError: true }, 1]);
  });

  it('answer without control characters, and never with more than 30,000 characters', async () => {
    const group = {
      sink: 'crm',
      cause: 'http:422',
      list: 'attendees',
      changes: 1,
      oldest: '2026-11-21T09:00:00.000Z',
      newest: '2026-11-21T09:00:00.000Z',
      detail: `\u001b[2J\u202e\nstatus: forged${'x'.repeat(1000)}`,
      meaning: 'The destination refused the record.',
      help: 'Fix it.',
    };
    const { call } = await assistant({ '/api/dead-letters': { groups: Array(100).fill(group) } });
    const { text } = await call('dead_letters');
    expect(text).not.toMatch(/[\u001b\u202e]/);
    expect(text).toContain('\\u001b[2J');
    expect(text).not.toContain('\nstatus: forged');
    expect(text).toMatch(/characters were cut: ask for less$/);
    expect(text.length).toBeLessThan(maxAnswerCharacters + 100);
  });
});

describe('the documentation for an assistant', () => {
  it('is found by words, and read as a whole or by section', async () => {
    const { call, asked } = await assistant({});
    const { text } = await call('search_docs', { words: 'redrive dead letters' });
    expect(text).toMatch(/^docs\/operations\.md#dead-letters: Operations › Dead letters$/m);
    const section = await call('read_docs', { document: 'docs/operations.md#dead-letters' });
    expect(section.text).toMatch(/^### Dead letters\n|^## Dead letters\n/);
    expect((await call('read_docs', { document: 'docs/glossary.md' })).text).toMatch(/^# Glossary\n/);
    expect(asked).toEqual([]); // it also helps while pigeonpost does not run
  });

  it.each(['../package.json', 'docs/../package.json', '/etc/passwd', 'docs/operations.md#nothing'])(
    'has nothing else: %s',
    async (document) => {
      const { call } = await assistant({});
      expect((await call('read_docs', { document })).isError).toBe(true);
    },
  );
});
