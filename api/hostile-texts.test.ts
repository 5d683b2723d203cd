import { readEventFile } from '../config/event-file.js';
import { loadCandidate } from '../operations/load-process-config.js';
import { apiSources, emptyLedger, localToken } from './api-sources.test-kit.js';
import type { Candidate } from '../operations/configuration-plan.js';
import { type ApiServer, startApi } from './start-api.js';

const open: ApiServer[] = [];
afterEach(async () => {
  for (const api of open.splice(0)) await api.close();
});

/** Serves the real parsers of texts behind the real routes. */
async function serving(): Promise<string> {
  const api = await startApi({ host: '127.0.0.1', port: 0 });
  open.push(api);
  const read = async (candidate: Candidate): Promise<never> => {
    await loadCandidate({ file: '/etc/pigeonpost.yaml' }, candidate, {});
    throw new Error('the text was accepted');
  };
  api.serve(
    apiSources({
      ledger: emptyLedger(),
      planConfiguration: read,
      preview: async ({ configuration }) => await read(configuration),
      lookAtEvent: async ({ text, file }) => readEventFile(text, file) as never,
      applyEvent: async ({ text, file }) => readEventFile(text, file) as never,
    }),
  );
  return api.url;
}

async function post(url: string, body: string): Promise<{ status: number; detail: string }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${localToken}`, 'content-type': 'application/json' },
    body,
  });
  const { detail } = (await answer.json()) as { detail: string };
  return { status: answer.status, detail };
}

const candidate = (text: string) => ({ file: '/tmp/other.yaml', text });
const bodies: Readonly<Record<string, (text: string) => object>> = {
  '/api/configuration/plan': candidate,
  '/api/preview': (text) => ({
    sink: 'hooks',
    list: null,
    pigeonhole: null,
    key: null,
    limit: 1,
    configuration: candidate(text),
    changedFrom: null,
  }),
  '/api/events/plan': (text) => ({ file: 'event.yaml', text, use: {}, create: [], skip: [] }),
  '/api/events/apply': (text) => ({ file: 'event.yaml', text, use: {}, create: [], skip: [] }),
};

describe.each(Object.keys(bodies))('a text sent to %s', (path) => {
  it.each([
    ['100 KB of braces', '{'.repeat(100_000)],
    ['600 KB of brackets', '['.repeat(600_000)],
    ['50,000 nested lists', '- '.repeat(50_000)],
  ])('that is %s is refused, and the process keeps answering', async (_, text) => {
    const url = await serving();
    const { status, detail } = await post(`${url}${path}`, JSON.stringify(bodies[path]!(text)));
    expect([status, detail]).toEqual([422, expect.stringContaining('nested more than 50 levels deep')]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe('a request body', () => {
  it.each([
    ['/api/configuration/plan', '{"file":'.repeat(60_000)],
    ['/api/preview', `{"configuration":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`],
    ['/api/actions', `{"do":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
  ])('for %s that is nested too deeply is refused before it is parsed', async (path, body) => {
    const url = await serving();
    const { status, detail } = await post(`${url}${path}`, body);
    expect([status, detail]).toEqual([
      400,
      'the body is nested deeper than 20 levels; send a body as described in /openapi.json',
    ]);
  });
});
