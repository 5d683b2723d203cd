import fc from 'fast-check';
import { createPigeonholeClient } from './client.js';
import type { ListRef } from './lists.js';
import type { Page } from './page.js';
import { answerJson, collection, startService, type TestService } from './service.test-kit.js';

/** Returns a list split into pages. The cursor of a page is an opaque text that needs encoding. */
function servePages(pages: () => unknown[][]): Promise<TestService> {
  return startService(({ url }, response) => {
    const cursor = new URL(url, 'http://service').searchParams.get('cursor');
    const index = cursor === null ? 0 : Number(Buffer.from(cursor, 'base64').toString().slice(2));
    const isLast = index === pages().length - 1;
    const next = isLast ? null : Buffer.from(`~?${index + 1}`).toString('base64');
    answerJson(response, 200, collection(pages()[index] ?? [], next));
  });
}

const vote = (second: number) => ({ createdAt: `2026-11-21T08:00:0${second}.000Z`, question: { id: 1 } });

const list = { list: 'attendees', pigeonholeId: 101 } as const;

async function collect(pages: AsyncGenerator<Page>): Promise<Page[]> {
  const all: Page[] = [];
  for await (const page of pages) all.push(page);
  return all;
}

describe('a walk', () => {
  it('yields every item once and in order, however the list is split into pages', async () => {
    let pages: unknown[][] = [[]];
    const service = await servePages(() => pages);
    const client = createPigeonholeClient({ baseUrl: service.baseUrl, apiKey: 'k' });
    const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 0, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.boolean(), async (pageSizes, endsEmpty) => {
        let id = 0;
        pages = pageSizes.map((size) => Array.from({ length: size }, () => ({ id: ++id })));
        if (endsEmpty || pages.length === 0) pages.push([]); // the last page may be empty, no other may
        service.requests.length = 0;
        const walked = await collect(client.pages(list));
        expect(walked.flatMap(({ items }) => items)).toEqual(pages.flat());
        expect(service.requests).toHaveLength(pages.length);
      }),
      { numRuns: 60 },
    );
    await client.close();
    await service.close();
  });

  it('resumes at a cursor, and each page has the cursor of its request', async () => {
    const service = await servePages(() => [[{ id: 1 }], [{ id: 2 }], [{ id: 3 }]]);
    const client = createPigeonholeClient({ baseUrl: service.baseUrl, apiKey: 'k' });
    const whole = await collect(client.pages(list));
    const resumed = await collect(client.pages(list, { from: whole[1]?.cursor ?? null }));
    expect(whole.map(({ cursor }) => cursor)).toEqual([null, whole[0]?.nextCursor, whole[1]?.nextCursor]);
    expect(resumed.flatMap(({ items }) => items)).toEqual([{ id: 2 }, { id: 3 }]);
    await client.close();
    await service.close();
  });

  it('requests a page only after the caller has taken the previous one', async () => {
    const service = await servePages(() => [[{ id: 1 }], [{ id: 2 }]]);
    const client = createPigeonholeClient({ baseUrl: service.baseUrl, apiKey: 'k' });
    const walk = client.pages(list);
    await walk.next();
    await walk.return();
    expect(service.requests).toHaveLength(1);
    await client.close();
    await service.close();
  });

  it('repeats its filters and count on every page and never follows links.next', async () => {
    const elsewhere = await startService((_, response) => answerJson(response, 200, collection([])));
    const service = await startService(({ url }, response) => {
      const next = url.includes('cursor=') ? null : 'c2';
      answerJson(response, 200, { ...collection([{ id: 1 }], next), links: { next: `${elsewhere.baseUrl}/v2/x` } });
    });
    const client = createPigeonholeClient({ baseUrl: service.baseUrl, apiKey: 'k' });
    await collect(client.pages({ list: 'qna-questions', pigeonholeId: 1, filters: { attendeeId: 4 } }, { count: 9 }));
    expect(service.requests.map(({ url }) => url)).toEqual([
      '/v2/pigeonholes/1/qna-questions?count=9&filter[attendeeId]=4',
      '/v2/pigeonholes/1/qna-questions?count=9&filter[attendeeId]=4&cursor=c2',
    ]);
    expect(elsewhere.requests).toEqual([]);
    await client.close();
    await service.close();
    await elsewhere.close();
  });

  it.each([
    ['that the walk started from', 'a'],
    ['of an earlier page', 'b'],
  ])('yields the valid pages and then fails if the service returns the cursor %s', async (_, comesBack) => {
    const nextOf: Record<string, string> = { a: 'b', b: 'c', c: comesBack };
    const service: TestService = await startService(({ url }, response) => {
      const cursor = new URL(url, 'http://service').searchParams.get('cursor') ?? '';
      // The list ends, so that a walk that misses the repetition fails here instead of running forever.
      const next = service.requests.length < 9 ? nextOf[cursor] : null;
      answerJson(response, 200, collection([{ id: 1 }], next));
    });
    const client = createPigeonholeClient({ baseUrl: service.baseUrl, apiKey: 'k' });
    const seen: (string | null)[] = [];
    const walking = (async () => {
      for await (const page of client.pages(list, { from: 'a' })) seen.push(page.cursor);
    })();
    await expect(walking).rejects.toMatchObject({ kind: 'protocol', requestId: 'req-1' });
    expect(seen).toEqual(['a', 'b', 'c']);
    await client.close();
    await service.close();
  });

  it.each([
    ['ids', 'attendees', (n: number) => [{ id: n }], 5], // the first page for the third time
    ['nested ids', 'questions', (n: number) => [{ question: { id: n } }], 5],
    ['votes of several instants', 'votes', (n: number) => [vote(1), vote(2 + n)], 5],
    ['votes of one instant', 'votes', (n: number) => [vote(n), vote(n)], 201], // the first page for the 101st time
  ] as const)('fails if pages of %s repeat in a cycle, each with a new cursor', async (_, name, rowsOf, requests) => {
    const service: TestService = await startService((_request, response) => {
      const at = service.requests.length;
      // The list ends, so that a walk that misses the cycle fails here instead of running forever.
      answerJson(response, 200, collection(rowsOf(at % 2), at < 210 ? `c${at}` : null));
    });
    const client = createPigeonholeClient({ baseUrl: service.baseUrl, apiKey: 'k' });
    const walk = collect(client.pages({ list: name, pigeonholeId: 101, filters: { sessionId: 1 } } as ListRef));
    await expect(walk).rejects.toMatchObject({ kind: 'protocol' });
    expect(service.requests).toHaveLength(requests);
    await client.close();
    await service.close();
  });
});
