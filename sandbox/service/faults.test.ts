import { subjectOf } from './serve-request.js';
import { closeSandboxes, idsOf, startTestSandbox } from '../sandbox-client.test-kit.js';
import { type FaultSubject, Faults, faultSchema, parseFault } from './faults.js';

afterEach(closeSandboxes);

const ATTENDEES = '/v2/pigeonholes/101/attendees';
const BULK = '/v2/pigeonholes/101/registrants/bulk';

describe('a fault of the connection or the answer', () => {
  it('error: answers the code with its status for the next requests of a list, and then nothing more', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'faults', {
      kind: 'error',
      code: 5000,
      list: 'attendees',
      next: 2,
      retryAfterSeconds: 7,
    });
    expect((await sandbox.get('/v2/pigeonholes')).status).toBe(200);
    const answers = [await sandbox.get(ATTENDEES), await sandbox.get(ATTENDEES), await sandbox.get(ATTENDEES)];
    expect(answers.map(({ status }) => status)).toEqual([500, 500, 200]);
    expect(answers[0]?.body['code']).toBe(5000);
    expect(answers[0]?.headers.get('retry-after')).toBe('7');
  });

  it('error: accepts another HTTP status', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'faults', { kind: 'error', code: 4504, status: 410, path: 'pigeonholes/101' });
    expect((await sandbox.get(ATTENDEES)).status).toBe(410);
  });

  it('errorAfter: a create commits and answers an error', async () => {
    const sandbox = await startTestSandbox();
    const before = (await sandbox.truth('registrants?pigeonhole=101')).length;
    await sandbox.control('POST', 'faults', { kind: 'errorAfter', code: 5000, method: 'POST' });
    expect((await sandbox.post(BULK, { data: [{ attendeeCode: 'a' }] })).status).toBe(500);
    expect(await sandbox.truth('registrants?pigeonhole=101')).toHaveLength(before + 1);
  });

  it('text503: answers plain text and spends no quota', async () => {
    const sandbox = await startTestSandbox({
      quota: { limit: 10, windowSeconds: 60, headers: true, retryAfter: false },
    });
    await sandbox.control('POST', 'faults', { kind: 'text503', next: 1 });
    const { status, headers, body } = await sandbox.get(ATTENDEES);
    expect({ status, type: headers.get('content-type'), body }).toEqual({
      status: 503,
      type: 'text/plain',
      body: { text: 'Service Unavailable' },
    });
    expect((await sandbox.control('GET', 'state'))['quotaUsed']).toBe(0);
  });

  it.each([
    [{ retryAfterText: '-5' }, '-5'],
    [{ retryAfterDateSeconds: -3600 }, expect.stringMatching(/GMT$/)],
  ])('sends Retry-After as %j says', async (rule, expected) => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'faults', { kind: 'text503', ...rule });
    expect((await sandbox.get(ATTENDEES)).headers.get('retry-after')).toEqual(expected);
  });

  it('withoutCode: leaves the code out of an error', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'faults', { kind: 'error', code: 6000, withoutCode: true });
    const { status, body } = await sandbox.get(ATTENDEES);
    expect({ status, body }).toEqual({ status: 400, body: { message: 'Invalid parameter value' } });
  });

  it('trickle: sends the whole body, in the given time', async () => {
    const sandbox = await startTestSandbox();
    const before = await sandbox.get(ATTENDEES);
    await sandbox.control('POST', 'faults', { kind: 'trickle', ms: 100, next: 1 });
    const startedAt = performance.now();
    expect((await sandbox.get(ATTENDEES)).body).toEqual(before.body);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(90);
  });

  it.each([
    ['before', 'the rule was added', false],
    ['beforeWrite', 'the last write', true],
  ])('staleCursor %s: refuses cursors issued before %s', async (issued, _, writes) => {
    const sandbox = await startTestSandbox();
    await sandbox.control('PATCH', 'knobs', { cursorText: 'signed' });
    const cursorOf = async (): Promise<string> => {
      const { body } = await sandbox.get(`${ATTENDEES}?count=1`);
      return encodeURIComponent((body['meta'] as { nextCursor: string }).nextCursor);
    };
    const codeOf = async (cursor: string): Promise<unknown> =>
      (await sandbox.get(`${ATTENDEES}?count=1&cursor=${cursor}`)).body['code'];
    const earlier = await cursorOf();
    await sandbox.control('POST', 'faults', { kind: 'staleCursor', issued, code: 7001 });
    if (writes) {
      expect(await codeOf(earlier)).toBeUndefined();
      await sandbox.control('POST', 'mutations', { op: 'insert', list: 'attendees', pigeonhole: 101, item: {} });
    }
    expect(await codeOf(earlier)).toBe(7001);
    expect(await codeOf(await cursorOf())).toBeUndefined();
  });

  it('delay: delays the answer for at least that time', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'faults', { kind: 'delay', ms: 120, next: 1 });
    const startedAt = performance.now();
    await sandbox.get(ATTENDEES);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(119);
  });

  it.each([
    ['dropBefore', 0],
    ['dropAfter', 1],
  ])('%s: closes the connection, and %i registrants have been created', async (kind, created) => {
    const sandbox = await startTestSandbox();
    const before = (await sandbox.truth('registrants?pigeonhole=101')).length;
    await sandbox.control('POST', 'faults', { kind, method: 'POST', next: 1 });
    await expect(sandbox.post(BULK, { data: [{ attendeeCode: 'a' }] })).rejects.toThrow('fetch failed');
    expect(await sandbox.truth('registrants?pigeonhole=101')).toHaveLength(before + created);
  });

  it('cutBody: announces more bytes than it sends', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'faults', { kind: 'cutBody', next: 1 });
    const response = await fetch(sandbox.baseUrl + ATTENDEES, { headers: { 'X-API-KEY': 'sandbox-key' } });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow('terminated');
  });

  it('wrongContentType: sends the correct body as HTML; htmlBody: sends HTML as JSON', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'faults', { kind: 'wrongContentType', next: 1 });
    const mislabelled = await sandbox.get(ATTENDEES);
    expect(mislabelled.headers.get('content-type')).toMatch('text/html');
    expect(mislabelled.body).toHaveProperty('meta');
    await sandbox.control('POST', 'faults', { kind: 'htmlBody', next: 1 });
    const html = await sandbox.get(ATTENDEES);
    expect(html.headers.get('content-type')).toBe('application/json');
    expect(html.body['text']).toMatch('<html>');
  });
});

describe('a fault of the pages', () => {
  it('repeatCursor: returns the cursor of the request', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'faults', { kind: 'repeatCursor' });
    const { meta } = await sandbox.page(`${ATTENDEES}?count=10`);
    const second = await sandbox.page(`${ATTENDEES}?count=10&cursor=${meta.nextCursor}`);
    expect(second.meta.nextCursor).toBe(meta.nextCursor);
  });

  it('circle: leads from the last page back to the first, with a new cursor each time', async () => {
    const sandbox = await startTestSandbox({ attendees: 15 });
    await sandbox.control('PATCH', 'knobs', { cursorText: 'signed' });
    await sandbox.control('POST', 'faults', { kind: 'circle' });
    const first = await sandbox.page(`${ATTENDEES}?count=10`);
    const last = await sandbox.page(`${ATTENDEES}?count=10&cursor=${encodeURIComponent(first.meta.nextCursor ?? '')}`);
    expect(last.meta.hasMore).toBe(true);
    const again = await sandbox.page(`${ATTENDEES}?count=10&cursor=${encodeURIComponent(last.meta.nextCursor ?? '')}`);
    expect(again.data).toEqual(first.data);
    expect(again.meta.nextCursor).not.toBe(first.meta.nextCursor);
  });

  it('lastPageAgain: leads from the last page to itself, with a new cursor each time', async () => {
    const sandbox = await startTestSandbox({ attendees: 15 });
    await sandbox.control('PATCH', 'knobs', { cursorText: 'signed' });
    await sandbox.control('POST', 'faults', { kind: 'lastPageAgain' });
    const first = await sandbox.page(`${ATTENDEES}?count=10`);
    const last = await sandbox.page(`${ATTENDEES}?count=10&cursor=${encodeURIComponent(first.meta.nextCursor ?? '')}`);
    expect(last.meta.hasMore).toBe(true);
    const again = await sandbox.page(`${ATTENDEES}?count=10&cursor=${encodeURIComponent(last.meta.nextCursor ?? '')}`);
    expect(again.data).toEqual(last.data);
    expect(again.meta.nextCursor).not.toBe(last.meta.nextCursor);
  });

  it('moreWithoutCursor: announces more pages without a cursor', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'faults', { kind: 'moreWithoutCursor' });
    const { meta, links } = await sandbox.page(`${ATTENDEES}?count=300`);
    expect({ meta, links }).toEqual({ meta: { perPage: 300, nextCursor: null, hasMore: true }, links: { next: null } });
  });

  it.each(['keyset', 'offset'] as const)(
    'emptyPage: shows nothing, and its %s cursor loses nothing',
    async (cursor) => {
      const sandbox = await startTestSandbox({ cursor });
      const whole = idsOf(await sandbox.walk(ATTENDEES));
      await sandbox.control('POST', 'faults', { kind: 'emptyPage', everyNth: 2 });
      const log = await sandbox.walk(ATTENDEES, 10);
      expect(idsOf(log)).toEqual(whole);
      const requests = (await sandbox.control('GET', 'requests?last=100'))['requests'] as { faults: string[] }[];
      expect(requests.filter(({ faults }) => faults.includes('emptyPage')).length).toBeGreaterThan(2);
    },
  );

  it('earlyEnd: marks a page as the last one', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'faults', { kind: 'earlyEnd', hasCursor: true, next: 1 });
    expect(await sandbox.walk(ATTENDEES, 20)).toHaveLength(40);
  });

  it('shortList: returns the first items of a page, or none, and marks it as the last one', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.control('POST', 'faults', { kind: 'shortList', next: 1 });
    await sandbox.control('POST', 'faults', { kind: 'shortList', skip: 1, next: 1, show: 2 });
    expect(await sandbox.walk(ATTENDEES, 20)).toEqual([]);
    const whole = await sandbox.walk(ATTENDEES, 20);
    expect(whole).toHaveLength(2);
    expect(idsOf(await sandbox.walk(ATTENDEES, 20)).slice(0, 2)).toEqual(idsOf(whole));
  });

  it('ignoreFilters: returns the votes of all sessions despite the filter', async () => {
    const sandbox = await startTestSandbox();
    const votes = '/v2/pigeonholes/101/votes?filter[sessionId]=5001';
    const ofSession = await sandbox.walk(votes);
    await sandbox.control('POST', 'faults', { kind: 'ignoreFilters', list: 'votes' });
    expect((await sandbox.walk(votes)).length).toBeGreaterThan(ofSession.length);
  });

  it('can exclude filtered requests; the filter of the session does not count', async () => {
    const faults = new Faults(1);
    faults.add(faultSchema.parse({ kind: 'error', filtered: false }));
    const seen: boolean[] = [];
    const subjects = ['filter[sessionId]=1', 'filter[sessionId]=1&filter[questionId]=2', 'cursor=x'].map((query) =>
      subjectOf('GET', new URL(`http://service${ATTENDEES}?${query}`)),
    );
    for (const subject of subjects) seen.push(faults.fireFor(subject).size > 0);
    expect(seen).toEqual([true, false, true]);
  });
});

describe('a rule', () => {
  const subject: FaultSubject = {
    method: 'GET',
    path: ATTENDEES,
    list: 'attendees',
    pigeonholeId: 101,
    sessionFilter: null,
    hasCursor: false,
    filtered: false,
  };
  const firings = (seed: number, rule: object): string => {
    const faults = new Faults(seed);
    faults.add(faultSchema.parse({ kind: 'error', ...rule }));
    return Array.from({ length: 60 }, () => (faults.fireFor(subject).size > 0 ? 'x' : '.')).join('');
  };

  it('affects requests at random, by its seed and near its rate', () => {
    const first = firings(1, { rate: 0.3 });
    expect(firings(1, { rate: 0.3 })).toBe(first);
    expect(firings(2, { rate: 0.3 })).not.toBe(first);
    const share = first.replaceAll('.', '').length / 60;
    expect(share).toBeGreaterThan(0.1);
    expect(share).toBeLessThan(0.5);
  });

  it('skips requests, affects every n-th, and stops after a number of them', () => {
    expect(firings(1, { skip: 2, everyNth: 3, next: 2 }).slice(0, 15)).toBe('....x..x.......');
  });

  it.each([
    ['method', 'POST'],
    ['list', 'votes'],
    ['path', 'sessions'],
    ['pigeonhole', 102],
    ['session', 5001],
    ['hasCursor', true],
  ])('ignores a request with another %s', (field, value) => {
    expect(firings(1, { [field]: value })).toBe('.'.repeat(60));
  });

  it('can be shown, and removed alone or with all others', async () => {
    const sandbox = await startTestSandbox();
    const { ids } = await sandbox.control('POST', 'faults', [{ kind: 'error' }, { kind: 'delay', ms: 1 }]);
    const [first] = ids as number[];
    await sandbox.get(ATTENDEES);
    expect((await sandbox.control('GET', 'faults'))['faults']).toMatchObject([
      { kind: 'error', matched: 1, fired: 1 },
      { kind: 'delay', matched: 1, fired: 1 },
    ]);
    await sandbox.control('DELETE', `faults/${String(first)}`);
    expect((await sandbox.get(ATTENDEES)).status).toBe(200);
    await sandbox.control('DELETE', 'faults');
    expect((await sandbox.control('GET', 'faults'))['faults']).toEqual([]);
  });
});

describe('parseFault', () => {
  it('reads pairs of key and value', () => {
    expect(parseFault('kind=error,code=8000,rate=0.5,list=votes,hasCursor=true')).toMatchObject({
      kind: 'error',
      code: 8000,
      rate: 0.5,
      list: 'votes',
      hasCursor: true,
    });
  });

  it('reports the invalid part', () => {
    expect(() => parseFault('kind=error,rate=3')).toThrow('rate');
    expect(() => parseFault('kind=earthquake')).toThrow('kind');
  });
});
