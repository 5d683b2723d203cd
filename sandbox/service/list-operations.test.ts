import { closeSandboxes, idsOf, startTestSandbox, textOf } from '../sandbox-client.test-kit.js';
import type { JsonObject } from '../json.js';

afterEach(closeSandboxes);

const LISTS = [
  '/v2/pigeonholes',
  '/v2/subscriptions',
  '/v2/pigeonholes/101/sessions',
  '/v2/pigeonholes/101/attendees',
  '/v2/pigeonholes/101/questions',
  '/v2/pigeonholes/101/votes?filter[sessionId]=5001',
  '/v2/pigeonholes/101/answer_ratings?filter[sessionId]=5001',
  '/v2/pigeonholes/101/answers?filter[sessionId]=5041',
  '/v2/pigeonholes/101/poll-mcq-votes',
  '/v2/pigeonholes/101/poll-quiz-votes',
  '/v2/pigeonholes/101/qna-questions',
];

describe('every list', () => {
  it.each(LISTS)('%s answers with the collection envelope and items', async (path) => {
    const sandbox = await startTestSandbox({ workspaceKind: 'team' });
    const page = await sandbox.page(path);

    expect(Object.keys(page).toSorted()).toEqual(['data', 'links', 'meta']);
    expect(page.meta.perPage).toBe(30);
    expect(page.data.length).toBeGreaterThan(0);
    expect(page.data.length).toBeLessThanOrEqual(30);
  });
});

describe('pages', () => {
  it('contain every item once, up to the page without a cursor', async () => {
    const sandbox = await startTestSandbox({ attendees: 65 });
    const first = await sandbox.page('/v2/pigeonholes/101/attendees?count=30');
    expect(first.meta).toEqual({ perPage: 30, nextCursor: expect.any(String), hasMore: true });

    const ids = idsOf(await sandbox.walk('/v2/pigeonholes/101/attendees', 30));
    expect(ids).toHaveLength(65);
    expect(new Set(ids).size).toBe(65);

    const whole = await sandbox.page('/v2/pigeonholes/101/attendees?count=300');
    expect(whole.meta).toEqual({ perPage: 300, nextCursor: null, hasMore: false });
    expect(whole.links.next).toBeNull();
  });

  it('contain every item once with signed cursors, which are all different', async () => {
    const sandbox = await startTestSandbox({ attendees: 65 });
    const whole = idsOf(await sandbox.walk('/v2/pigeonholes/101/attendees', 30));
    await sandbox.control('PATCH', 'knobs', { cursorText: 'signed' });
    expect(idsOf(await sandbox.walk('/v2/pigeonholes/101/attendees', 30))).toEqual(whole);
    const cursor = async () => (await sandbox.page('/v2/pigeonholes/101/attendees?count=30')).meta.nextCursor ?? '';
    const [one, other] = [await cursor(), await cursor()];
    expect(one).not.toBe(other);
    const forged = Buffer.from(Buffer.from(one, 'base64').toString('latin1').replace('cursor_', 'cursor_1')).toString(
      'base64',
    );
    const { status } = await sandbox.get(`/v2/pigeonholes/101/attendees?cursor=${encodeURIComponent(forged)}`);
    expect(status).toBe(400);
  });

  it('end with the last page even if it is exactly full', async () => {
    const sandbox = await startTestSandbox({ attendees: 60 });
    const first = await sandbox.page('/v2/pigeonholes/101/attendees?count=30');
    const last = await sandbox.page(`/v2/pigeonholes/101/attendees?count=30&cursor=${first.meta.nextCursor}`);
    expect(last.data).toHaveLength(30);
    expect(last.meta.hasMore).toBe(false);
  });

  it('have a full URL in links.next that leads to the next page and repeats count only if it was sent', async () => {
    const sandbox = await startTestSandbox();
    const counted = await sandbox.page('/v2/pigeonholes/101/attendees?count=20');
    const uncounted = await sandbox.page('/v2/pigeonholes/101/attendees');
    const next = new URL(counted.links.next ?? '');

    expect(next.origin).toBe(sandbox.baseUrl);
    expect(next.searchParams.get('count')).toBe('20');
    expect(next.searchParams.get('cursor')).toBe(counted.meta.nextCursor);
    expect(new URL(uncounted.links.next ?? '').searchParams.has('count')).toBe(false);
    const followed = await sandbox.page(next.pathname + next.search);
    expect(idsOf(followed.data)).toEqual(idsOf(await sandbox.walk('/v2/pigeonholes/101/attendees')).slice(20, 40));
  });

  it('keep the filters in links.next', async () => {
    const sandbox = await startTestSandbox();
    const path = '/v2/pigeonholes/101/questions?filter[sessionId]=5001&count=5';
    expect(new URL((await sandbox.page(path)).links.next ?? '').searchParams.get('filter[sessionId]')).toBe('5001');
  });

  it('refuse a cursor that the service did not issue or that has the other kind', async () => {
    const sandbox = await startTestSandbox();
    expect((await sandbox.get('/v2/pigeonholes/101/attendees?cursor=bm9uc2Vuc2U=')).body['code']).toBe(6000);
    const { meta } = await sandbox.page('/v2/pigeonholes/101/attendees');
    await sandbox.control('POST', 'lists/attendees', { cursor: 'offset' });
    expect((await sandbox.get(`/v2/pigeonholes/101/attendees?cursor=${meta.nextCursor}`)).body['code']).toBe(6000);
  });

  it.each(['0', '301', '-1', 'ten', '1.5'])('refuse count=%s with 6000', async (count) => {
    const sandbox = await startTestSandbox();
    const { status, body } = await sandbox.get(`/v2/pigeonholes/101/attendees?count=${count}`);
    expect({ status, code: body['code'] }).toEqual({ status: 400, code: 6000 });
  });

  it('are limited to the service’s maximum, which perPage shows', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('PATCH', 'knobs', { maxPerPage: 20 });
    const page = await sandbox.page('/v2/pigeonholes/101/attendees?count=300');
    expect(page.data).toHaveLength(20);
    expect(page.meta.perPage).toBe(20);
  });

  it.each([
    ['seconds', /^\d{4}-\d\d-\d\dT[\d:]{8}(\.\d{3})?Z$/],
    ['offset', /^\d{4}-\d\d-\d\dT[\d:]{8}(\.\d{3})?\+00:00$/],
  ])('show the same instants if they are written as %s', async (instants, form) => {
    const sandbox = await startTestSandbox();
    const texts = async (): Promise<string[]> =>
      (await sandbox.page('/v2/pigeonholes/101/questions?count=300')).data.map(({ createdAt }) => createdAt as string);
    const before = await texts();
    await sandbox.control('PATCH', 'knobs', { instants });
    const after = await texts();
    expect(after.map((text) => Date.parse(text))).toEqual(before.map((text) => Date.parse(text)));
    for (const text of after) expect(text).toMatch(form);
    expect(after).not.toContainEqual(expect.stringContaining('.000'));
  });

  it.each(['ascending', 'descending', 'unordered'] as const)('of a list %s hold the same items', async (order) => {
    const sandbox = await startTestSandbox({ order, attendees: 95 });
    const ids = idsOf(await sandbox.walk('/v2/pigeonholes/101/attendees', 10)) as number[];
    const rising = ids.toSorted((a, b) => a - b);

    expect(new Set(ids).size).toBe(95);
    if (order === 'ascending') expect(ids).toEqual(rising);
    if (order === 'descending') expect(ids).toEqual(rising.toReversed());
    if (order === 'unordered') {
      expect(ids).not.toEqual(rising);
      expect(ids).not.toEqual(rising.toReversed());
    }
  });
});

describe('filters', () => {
  it('narrow pigeonholes to some statuses and a time zone', async () => {
    const sandbox = await startTestSandbox({ pigeonholes: 6 });
    const statuses = async (query: string): Promise<unknown[]> =>
      (await sandbox.walk(`/v2/pigeonholes?${query}`)).map((item) => item['status']);

    expect(await statuses('filter[status]=upcoming,ended')).toEqual(['ended', 'upcoming', 'ended']);
    expect(await statuses('filter[timezone]=Europe/Berlin')).toEqual(['ended']);
    expect(await statuses('filter[timezone]=Europe%2FBerlin&filter[status]=live')).toEqual([]);
  });

  it('are ignored if their name or value is not supported', async () => {
    const sandbox = await startTestSandbox({ pigeonholes: 4 });
    const count = async (path: string): Promise<number> => (await sandbox.walk(path)).length;
    expect(await count('/v2/pigeonholes?filter[status]=sleeping')).toBe(4);
    expect(await count('/v2/pigeonholes?filter[status]=live,sleeping')).toBe(1);
    expect(await count('/v2/pigeonholes?filter[name]=x&filter[timezone]=Mars/Base')).toBe(4);
    expect(await count('/v2/pigeonholes/101/attendees?filter[attendeeId]=1')).toBe(60);
    expect(await count('/v2/pigeonholes/101/sessions?filter[startsBefore]=yesterday')).toBe(12);
    expect(await count('/v2/pigeonholes/101/questions?filter[sessionId]=abc')).toBe(24);
    expect(await count('/v2/pigeonholes/101/qna-questions?filter[sessionId]=5001')).toBe(24);
  });

  it('keep the sessions that start before an instant', async () => {
    const sandbox = await startTestSandbox();
    const all = await sandbox.walk('/v2/pigeonholes/101/sessions');
    const limit = '2026-11-21T08:00:00+00:00';
    const kept = await sandbox.walk(`/v2/pigeonholes/101/sessions?filter[startsBefore]=${encodeURIComponent(limit)}`);
    const expected = all.filter((session) => Date.parse(session['startDate'] as string) < Date.parse(limit));

    expect(expected.length).toBeGreaterThan(0);
    expect(expected.length).toBeLessThan(all.length);
    expect(idsOf(kept)).toEqual(idsOf(expected));
  });

  it.each([
    ['questions', 'sessionId', 'session', 'id'],
    ['votes?filter[sessionId]=5001', 'questionId', 'question', 'id'],
    ['answer_ratings?filter[sessionId]=5011', 'questionId', 'question', 'id'],
    ['poll-mcq-votes', 'sessionId', 'session', 'id'],
    ['poll-mcq-votes', 'attendeeId', 'attendee', 'id'],
    ['poll-quiz-votes', 'attendeeId', 'attendee', 'id'],
    ['poll-quiz-votes', 'sessionId', 'session', 'id'],
    ['qna-questions', 'attendeeId', 'attendee', 'id'],
  ])('narrow %s by %s to exactly the items that match', async (list, filter, holder, field) => {
    const sandbox = await startTestSandbox();
    const path = `/v2/pigeonholes/101/${list}`;
    const all = await sandbox.walk(path);
    const [, , , fourth = {}] = all;
    const wanted = (fourth[holder] as JsonObject)[field];
    const found = await sandbox.walk(`${path}${path.includes('?') ? '&' : '?'}filter[${filter}]=${textOf(wanted)}`, 2);
    expect(found).toEqual(all.filter((item) => (item[holder] as JsonObject)[field] === wanted));
  });

  it('accept several values', async () => {
    const sandbox = await startTestSandbox();
    const two = await sandbox.walk('/v2/pigeonholes/101/questions?filter[sessionId]=5001,5011');
    expect(two).toEqual(await sandbox.walk('/v2/pigeonholes/101/questions'));
    expect(await sandbox.walk('/v2/pigeonholes/101/questions?filter[sessionId]=5001')).toHaveLength(12);
  });

  it('keep ratings between two numbers, both included', async () => {
    const sandbox = await startTestSandbox({ questions: 60 });
    const path = '/v2/pigeonholes/101/answer_ratings?filter[sessionId]=5001';
    const rates = (items: JsonObject[]): unknown[] => items.map((item) => (item['answerRating'] as JsonObject)['rate']);
    const kept = rates(await sandbox.walk(`${path}&filter[ratingBetween]=2,3`));
    expect(kept).toEqual(rates(await sandbox.walk(path)).filter((rate) => rate === 2 || rate === 3));
    expect(new Set(kept)).toEqual(new Set([2, 3]));
  });

  it('keep word-cloud answers of a status', async () => {
    const sandbox = await startTestSandbox({ attendees: 200, responses: 200 });
    const path = '/v2/pigeonholes/101/answers?filter[sessionId]=5041';
    const all = await sandbox.walk(path);
    const pending = await sandbox.walk(`${path}&filter[status]=pending`);
    expect(pending.length).toBeGreaterThan(0);
    expect(pending).toEqual(all.filter((item) => (item['answer'] as JsonObject)['status'] === 'pending'));
  });

  it.each(['votes', 'answer_ratings', 'answers'])(
    'are required of %s: without filter[sessionId] it answers 6000',
    async (list) => {
      const sandbox = await startTestSandbox();
      expect((await sandbox.get(`/v2/pigeonholes/101/${list}`)).body['code']).toBe(6000);
    },
  );

  it('return 4509 for an unknown session', async () => {
    const sandbox = await startTestSandbox();
    const { body } = await sandbox.get('/v2/pigeonholes/101/questions?filter[sessionId]=99');
    expect(body['code']).toBe(4509);
  });
});

describe('requests the service refuses', () => {
  it.each([
    ['an unknown path', '/v2/nothing', 404, 4502],
    ['a path below a list', '/v2/pigeonholes/101/sessions/5001', 404, 4502],
    ['another version', '/v3/pigeonholes', 404, 4502],
    ['an unknown pigeonhole', '/v2/pigeonholes/999', 404, 4504],
    ['a malformed pigeonhole id', '/v2/pigeonholes/abc/attendees', 404, 4504],
    ['the list of an unknown pigeonhole', '/v2/pigeonholes/999/attendees', 404, 4504],
    ['reading what can only be created', '/v2/pigeonholes/101/registrants/bulk', 405, 9000],
  ])('%s', async (_what, path, status, code) => {
    const sandbox = await startTestSandbox();
    const answer = await sandbox.get(path);
    expect({ status: answer.status, code: answer.body['code'] }).toEqual({ status, code });
    expect(answer.body['message']).toEqual(expect.any(String));
  });

  it('a missing or wrong key with 4501, before it checks anything else', async () => {
    const sandbox = await startTestSandbox();
    for (const headers of [{ 'X-API-KEY': 'wrong' }, { 'X-API-KEY': '' }]) {
      const answer = await sandbox.get('/v2/nothing', headers);
      expect({ status: answer.status, code: answer.body['code'] }).toEqual({ status: 401, code: 4501 });
    }
    expect((await fetch(`${sandbox.baseUrl}/v2/pigeonholes`)).status).toBe(401);
  });

  it('a wrong method', async () => {
    const sandbox = await startTestSandbox();
    expect((await sandbox.post('/v2/pigeonholes/101/attendees', {})).body['code']).toBe(9000);
    const headers = { 'X-API-KEY': 'sandbox-key' };
    expect((await fetch(`${sandbox.baseUrl}/v2/pigeonholes/101`, { method: 'DELETE', headers })).status).toBe(405);
  });
});

describe('every answer', () => {
  it('has a unique X-Request-Id, even errors', async () => {
    const sandbox = await startTestSandbox();
    const answers = [
      await sandbox.get('/v2/pigeonholes'),
      await sandbox.get('/v2/no'),
      await sandbox.get('/v2/pigeonholes'),
    ];
    const ids = answers.map((answer) => answer.headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain(null);
  });

  it('is JSON', async () => {
    const sandbox = await startTestSandbox();
    for (const path of ['/v2/pigeonholes', '/v2/no']) {
      expect((await sandbox.get(path)).headers.get('content-type')).toBe('application/json');
    }
  });
});

describe('a single pigeonhole', () => {
  it('has the fields of the list and expectedParticipants', async () => {
    const sandbox = await startTestSandbox();
    const [listed] = await sandbox.walk('/v2/pigeonholes');
    const { body } = await sandbox.get('/v2/pigeonholes/101');
    expect(listed).not.toHaveProperty('expectedParticipants');
    expect(body['data']).toEqual({ ...listed, expectedParticipants: 100 });
  });
});
