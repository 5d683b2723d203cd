import { Hono } from 'hono';
import { gunzipSync } from 'node:zlib';
import type { ApiEnvironment } from './api-app.js';
import { compressAnswers } from './compress-answers.js';

const long = { items: Array.from({ length: 300 }, (_, n) => ({ id: n, name: `Event ${n}`, state: 'working' })) };

function appOf() {
  const app = new Hono<ApiEnvironment>();
  app.use(compressAnswers);
  app.get('/long', (c) => c.json(long));
  app.get('/short', (c) => c.json({ done: true }));
  app.get('/text', (c) => c.text('x'.repeat(10_000)));
  app.post('/long', (c) => c.json(long));
  return app;
}

const accepting = { headers: { 'accept-encoding': 'gzip, deflate, br' } };

describe('a long JSON answer', () => {
  it('is compressed for clients that accept it', async () => {
    const answer = await appOf().request('/long', accepting);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(answer.headers.get('vary')).toBe('accept-encoding');
    expect(JSON.parse(gunzipSync(bytes).toString())).toEqual(long);
    expect(bytes.byteLength).toBeLessThan(JSON.stringify(long).length / 4);
  });

  it.each([
    ['/long', {}],
    ['/short', accepting],
    ['/text', accepting],
    ['/long', { ...accepting, method: 'POST' }],
  ])('is not compressed otherwise: %s %j', async (path, init) => {
    const answer = await appOf().request(path, init);
    expect(answer.headers.get('content-encoding')).toBeNull();
    expect((await answer.text()).length).toBeGreaterThan(10);
  });
});
