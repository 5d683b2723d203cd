import { documentPaths } from '../base/documents.js';
import { apiSources, emptyConfig, emptyLedger } from './api-sources.test-kit.js';
import { createApp } from './create-app.js';

const app = createApp(apiSources({ ledger: emptyLedger(), config: emptyConfig({ host: '127.0.0.1', port: 8088 }) }));
const get = async (path: string) => await app.request(path, { headers: { host: '127.0.0.1' } });

describe('the documentation of a running pigeonpost', () => {
  it('is served as Markdown, without a token', async () => {
    const answer = await get('/docs/sinks/slack.md');
    expect(answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(await answer.text()).toMatch(/^# Slack: /);
    expect((await get('/README.md')).status).toBe(200);
  });

  it('has an index in which every link leads to a document', async () => {
    const index = await (await get('/llms.txt')).text();
    expect(index).toMatch(/^# pigeonpost\n\n> .+\n\n## Try\n/);
    const links = [...index.matchAll(/^- \[.+\]\((.+?)\)/gm)].map(([, path]) => path!);
    expect(links).toEqual(expect.arrayContaining(documentPaths().filter((path) => /^docs\/[a-z-]+\.md/.test(path))));
    for (const path of links) expect([path, (await get(`/${path}`)).status]).toEqual([path, 200]);
  });

  it('has the schema of the configuration', async () => {
    const answer = await get('/docs/pigeonpost.schema.json');
    expect(answer.headers.get('content-type')).toBe('application/schema+json');
    expect(await answer.json()).toMatchObject({ title: 'pigeonpost.yaml' });
  });

  it.each(['/docs/', '/docs/nothing.md', '/docs/../package.json', '/docs/%2e%2e/package.json', '/docs/images/x.png'])(
    'has no other file: %s',
    async (path) => expect((await get(path)).status).toBe(404),
  );
});
