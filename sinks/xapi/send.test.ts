import { setImmediate as nextTurn } from 'node:timers/promises';
import { Secret } from '../../config/secret.js';
import { type LrsDouble, type LrsDoubleOptions, startLrsDouble } from '../../sandbox/lrs/start-lrs-double.js';
import type { Statement, LrsVersion } from '../../sandbox/lrs/lrs.js';
import type { DoubleAnswer } from '../../sandbox/serve/double-request.js';
import type { Fault, FaultEffect } from '../../sandbox/serve/faults.js';
import { stopTimers } from '../../test/kit/stop-timers.js';
import type { Outcome, Sink, SinkEnvironment } from '../sink.js';
import type { XapiOperation } from './plan.js';
import { items, subjectFor, configurationFor } from './subjects.test-kit.js';
import { createXapiSink } from './xapi.js';
import { environmentOf, laneOf } from '../sink-environment.test-kit.js';

const lane = laneOf();
const goingOn = new AbortController().signal;

let lrs: LrsDouble;
const opened: { close(): Promise<void> }[] = [];
beforeEach(() => start());
afterEach(async () => {
  for (const sink of opened.splice(0)) await sink.close();
});

/** Starts an LRS of xAPI 2.0, or of the given versions. */
async function start(options: LrsDoubleOptions = {}): Promise<void> {
  const accounts = [{ username: 'lrs-key', password: 'lrs-s3cret' }];
  lrs = await startLrsDouble({ accounts, ...options });
  opened.push(lrs);
}

/** Answers all later requests for statements with this response or with the result of this function. */
function answering(status: number, headers: Record<string, string> = {}, text = ''): void {
  befall({ kind: 'answer', answer: { status, headers, text } });
}

function befall(effect: Fault['effect']): void {
  lrs.faults.add({ effect, path: '/statements', times: Number.POSITIVE_INFINITY });
}

/** Rejects a batch with this status if its statements match. */
function refusing(status: number, isRefused: (statements: readonly { id: string }[]) => boolean): void {
  befall(({ method, body }): FaultEffect | undefined =>
    method === 'POST' && isRefused(JSON.parse(body) as { id: string }[])
      ? { kind: 'answer', answer: { status, json: { message: 'Ada Lovelace' } } }
      : undefined,
  );
}

const asked = () => lrs.requests.filter(({ path }) => path.endsWith('/statements'));
const posted = () => asked().filter(({ method }) => method === 'POST');
const sentIn = ({ body }: { readonly body: string }) => (JSON.parse(body) as unknown[]).length;
const valid = () =>
  lrs.store.all
    .filter(({ id, verb }) => lrs.store.voiderOf(id) === undefined && !String(verb['id']).endsWith('/voided'))
    .map(({ id }) => id);

function sinkWith(
  environment: Partial<SinkEnvironment> = {},
  keys: Readonly<Record<string, unknown>> = {},
): Sink<XapiOperation> {
  const sink = createXapiSink(
    configurationFor(lrs.endpoint, keys),
    environmentOf('lms', { requestTimeoutMs: 60_000, ...environment }),
  );
  opened.push(sink);
  return sink;
}

async function operations(sink: Sink<XapiOperation>, count: number, content = 'Why'): Promise<XapiOperation[]> {
  const subjects = Array.from({ length: count }, (_, index) =>
    subjectFor(
      'qna-questions',
      { ...items['qna-questions'], id: index + 1, content: `${content} ${index}?` },
      { key: `${index}` },
    ),
  );
  return (await sink.plan(subjects)).map((planned) => {
    if (planned.kind !== 'send') throw new Error(`nothing is sent: ${planned.kind}`);
    return planned.operation;
  });
}

const kindsOf = (outcomes: readonly Outcome[]) => outcomes.map(({ kind }) => kind);
const tally = (outcomes: readonly Outcome[]) => {
  const counts: Record<string, number> = {};
  for (const { kind } of outcomes) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};

describe('a batch', () => {
  it('is one request with the credentials and the version of xAPI', async () => {
    const sink = sinkWith();
    const sending = await operations(sink, 100);
    const { outcomes } = await sink.send(sending, lane, goingOn);
    expect(tally(outcomes)).toEqual({ delivered: 100 });
    expect(outcomes.map(({ object }) => object)).toEqual(sending.map(({ after }) => after));
    expect(asked().map((request) => `${request.method} ${sentIn(request)}`)).toEqual(['POST 100']);
    expect(asked()[0]!.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('lrs-key:lrs-s3cret').toString('base64')}`,
      'x-experience-api-version': '2.0.0',
      'content-type': 'application/json',
    });
    expect(valid()).toHaveLength(100);
  });

  it('with the same statements changes nothing in the LRS when it is repeated', async () => {
    const sink = sinkWith();
    const sending = await operations(sink, 3);
    await sink.send(sending, lane, goingOn);
    const { outcomes } = await sink.send(sending, lane, goingOn);
    expect(tally(outcomes)).toEqual({ delivered: 3 });
    expect(lrs.store.all.length).toBe(3);
  });

  it('is divided if it would be too large', async () => {
    const sink = sinkWith();
    const { outcomes } = await sink.send(await operations(sink, 90, 'x'.repeat(10_000)), lane, goingOn);
    expect(tally(outcomes)).toEqual({ delivered: 90 });
    expect(asked().length).toBeGreaterThan(1);
  });

  it.each([0, 1, 12, 24, 25, 49, 50, 62, 75, 98, 99])(
    'of 100 with one bad statement at position %d delivers 99 and rejects one in at most 15 requests',
    async (bad) => {
      const sink = sinkWith();
      const sending = await operations(sink, 100);
      refusing(400, (statements) => statements.some(({ id }) => id === sending[bad]!.statements[0]!.id));
      const { outcomes } = await sink.send(sending, lane, goingOn);
      expect(outcomes.flatMap(({ kind }, place) => (kind === 'delivered' ? [] : [place]))).toEqual([bad]);
      expect(outcomes[bad]).toMatchObject({ kind: 'rejected', cause: 'http:400' });
      expect(JSON.stringify(outcomes)).not.toContain('Ada');
      expect(asked().length).toBeLessThanOrEqual(15);
      expect(valid()).toHaveLength(99);
    },
  );

  it.each([412, 415, 422])('with one statement that is rejected with %d rejects only that one', async (status) => {
    const sink = sinkWith();
    const sending = await operations(sink, 12);
    refusing(status, (statements) => statements.some(({ id }) => id === sending[7]!.statements[0]!.id));
    const { outcomes } = await sink.send(sending, lane, goingOn);
    expect(tally(outcomes)).toEqual({ delivered: 11, rejected: 1 });
    expect(outcomes[7]).toMatchObject({
      cause: `http:${status}`,
      detail: expect.stringMatching(`^the LRS refuses the statement of .* \\(HTTP ${status}\\)$`),
    });
  });

  it('is divided until the LRS accepts its size, so that only a single oversized statement is rejected', async () => {
    const sink = sinkWith();
    const sending = await operations(sink, 20);
    const huge = sending[7]!.statements[0]!.id;
    refusing(413, (statements) => statements.length > 6 || statements.some(({ id }) => id === huge));
    const { outcomes } = await sink.send(sending, lane, goingOn);
    expect(tally(outcomes)).toEqual({ delivered: 19, rejected: 1 });
    expect(outcomes[7]).toMatchObject({ kind: 'rejected', cause: 'http:413' });
  });
});

describe('a statement whose id already exists', () => {
  const authority = { objectType: 'Agent' };
  const stored = async (change: (statement: Statement) => object) => {
    const sink = sinkWith();
    const sending = await operations(sink, 5);
    const statement = JSON.parse(JSON.stringify(sending[2]!.statements[0])) as Statement;
    lrs.store.add({ ...statement, ...change(statement) }, authority);
    return { sink, sending };
  };

  it('is delivered if the LRS has a statement with the same meaning', async () => {
    const { sink, sending } = await stored(({ context }) => ({
      timestamp: '2026-11-21T10:30:00+01:00',
      context: { ...(context as object), language: 'en' },
    }));
    expect(tally((await sink.send(sending, lane, goingOn)).outcomes)).toEqual({ delivered: 5 });
  });

  it('is delivered if the LRS answers a request for one statement with a list, as Ralph does', async () => {
    await start({ repeats: 'conflict' });
    const { sink, sending } = await stored(() => ({}));
    befall(({ method }): FaultEffect | undefined =>
      method === 'GET' ? { kind: 'answer', answer: { status: 200, json: { statements: lrs.store.all } } } : undefined,
    );
    expect(tally((await sink.send(sending, lane, goingOn)).outcomes)).toEqual({ delivered: 5 });
  });

  it('is rejected without affecting others if the LRS has another statement with its id', async () => {
    const { sink, sending } = await stored(() => ({ result: { response: 'Ada Lovelace' } }));
    const { outcomes } = await sink.send(sending, lane, goingOn);
    expect(kindsOf(outcomes)).toEqual(['delivered', 'delivered', 'rejected', 'delivered', 'delivered']);
    expect(outcomes[2]).toMatchObject({ cause: 'conflict', detail: expect.stringContaining('HTTP 409') });
    expect(JSON.stringify(outcomes)).not.toContain('Ada');
  });

  it('is delivered together with the missing statement that voids the previous one', async () => {
    await start({ repeats: 'conflict' });
    const sink = sinkWith();
    const [first] = await operations(sink, 1, 'Wen');
    await sink.send([first!], lane, goingOn);
    const edited = subjectFor(
      'qna-questions',
      { ...items['qna-questions'], id: 1 },
      { key: '0', revision: 2 },
      { object: first!.after },
    );
    const [planned] = await sink.plan([edited]);
    const { operation } = planned as { operation: XapiOperation };
    const byAnAttemptBefore = JSON.parse(JSON.stringify(operation.statements[0])) as Statement;
    lrs.store.add(byAnAttemptBefore, authority);
    const { outcomes } = await sink.send([operation], lane, goingOn);
    expect(kindsOf(outcomes)).toEqual(['delivered']);
    expect(valid()).toEqual([operation.statements[0]!.id]);
  });

  it('is retried if the LRS does not return the existing statement', async () => {
    await start({ repeats: 'conflict' });
    const { sink, sending } = await stored(() => ({}));
    lrs.faults.add({
      effect: { kind: 'answer', answer: { status: 500 } },
      method: 'GET',
      path: '/statements',
      times: 100,
    });
    const { outcomes } = await sink.send(sending.slice(2, 3), lane, goingOn);
    expect(outcomes).toEqual([expect.objectContaining({ kind: 'retry', object: sending[2]!.unsure })]);
  });
});

describe('an LRS', () => {
  it.each([
    [401, { kind: 'pause', cause: 'credential' }, false],
    [403, { kind: 'pause', cause: 'credential' }, false],
    [404, { kind: 'retry', detail: expect.stringContaining('check "endpoint"') }, false],
    [302, { kind: 'retry', detail: expect.stringContaining('does not follow redirects') }, false],
    [429, { kind: 'retry' }, false],
    [500, { kind: 'retry' }, true],
    [503, { kind: 'retry' }, true],
    [200, { kind: 'retry', detail: expect.stringContaining('the answer is not from an LRS') }, true],
  ])(
    'that answers %d delivers nothing, and statements that may be stored stay unsettled',
    async (status, outcome, open) => {
      const sink = sinkWith();
      const sending = await operations(sink, 3);
      answering(status, { 'x-request-id': 'req-1' }, '<p>Ada Lovelace</p>');
      const { outcomes } = await sink.send(sending, lane, goingOn);
      for (const [place, each] of outcomes.entries()) {
        expect(each).toMatchObject(outcome);
        expect(each.object).toEqual(open ? sending[place]!.unsure : undefined);
      }
      expect(JSON.stringify(outcomes)).not.toMatch(/Ada|lrs-s3cret/);
      expect(JSON.stringify(outcomes)).toContain('request req-1');
    },
  );

  it('that requests a wait receives nothing from any lane until the wait is over', async () => {
    let now = 1_000_000;
    const sink = sinkWith({ now: () => now });
    const sending = await operations(sink, 2);
    answering(429, { 'retry-after': '60' });
    await sink.send(sending.slice(0, 1), lane, goingOn);
    now += 20_000;
    lrs.faults.clear();
    const waiting = await sink.send(sending, { ...lane, pigeonholeId: 102 }, goingOn);
    expect(waiting.outcomes).toEqual([0, 1].map(() => expect.objectContaining({ kind: 'retry', afterMs: 40_000 })));
    expect(asked()).toHaveLength(1);
    now += 40_000;
    expect(tally((await sink.send(sending, lane, goingOn)).outcomes)).toEqual({ delivered: 2 });
  });

  it('that does not answer leaves statements unsettled, unless it was never reached', async () => {
    const sink = sinkWith({ requestTimeoutMs: 500 });
    const sending = await operations(sink, 1);
    befall({ kind: 'slow', delayMs: 600_000 });
    stopTimers();
    try {
      const sent = sink.send(sending, lane, goingOn);
      while (posted().length === 0) await nextTurn();
      jest.advanceTimersByTime(500);
      const [silent] = (await sent).outcomes;
      expect(silent).toMatchObject({ kind: 'retry', detail: expect.stringMatching(/within 0.5 s$/) });
      expect(silent!.object).toEqual(sending[0]!.unsure);
    } finally {
      jest.useRealTimers();
    }
    await lrs.close();
    const gone = await sink.send(sending, lane, goingOn);
    expect(gone.outcomes[0]).toEqual({ kind: 'retry', detail: expect.stringContaining('refused the connection') });
  });

  it('receives at most the number of requests in `limits`', async () => {
    const sink = sinkWith({ limits: { per10s: 3 } }); // the first request reads the version
    const sending = await operations(sink, 3);
    for (const each of sending.slice(0, 2)) await sink.send([each], lane, goingOn);
    const stop = new AbortController();
    const third = sink.send(sending.slice(2), lane, stop.signal);
    await fetch(`${lrs.endpoint}/about`); // an unlimited third request would have arrived by now
    stop.abort();
    expect(kindsOf((await third).outcomes)).toEqual(['retry']);
    expect(posted()).toHaveLength(2);
  });

  it('counts a request that is repeated with a new token as two requests under `limits`', async () => {
    const oauth = { tokenUrl: lrs.tokenUrl, clientId: 'lrs-key', clientSecret: new Secret('lrs-s3cret') };
    const keys = { username: undefined, password: undefined, oauth };
    const sink = sinkWith({ limits: { per10s: 4 } }, keys); // the first request reads the version
    const sending = await operations(sink, 3);
    await sink.send(sending.slice(0, 1), lane, goingOn);
    lrs.expireTokens();
    const { outcomes } = await sink.send(sending.slice(1, 2), lane, goingOn);
    expect([kindsOf(outcomes), posted().length]).toEqual([['delivered'], 3]);
    const stop = new AbortController();
    const third = sink.send(sending.slice(2), lane, stop.signal);
    await fetch(`${lrs.endpoint}/about`); // an unlimited fifth request would have arrived by now
    stop.abort();
    expect(kindsOf((await third).outcomes)).toEqual(['retry']);
    expect(posted()).toHaveLength(3);
  });
});

describe('an attempt whose process died', () => {
  it('keeps its statements unsettled, so that possibly stored ones can be voided', async () => {
    const sink = sinkWith();
    const sending = await operations(sink, 2);
    const { outcomes } = await sink.recover!(sending, lane, goingOn);
    expect(outcomes).toEqual(sending.map(({ unsure }) => ({ kind: 'unsent', object: unsure })));
    expect(lrs.requests).toEqual([]);
  });
});

describe('a check', () => {
  const lines = async () => await sinkWith().check(goingOn);

  it('reports the LRS, its version, and that it accepts the credentials', async () => {
    expect(await lines()).toEqual([
      { ok: true, text: expect.stringContaining('xAPI 2.0') },
      { ok: true, text: expect.stringContaining('accepts the credentials') },
    ]);
    expect(posted()).toEqual([]);
  });

  it('finds a wrong path, although a server answers it as it answers for a statement that does not exist', async () => {
    for (const endpoint of [lrs.endpoint.replace('/xapi', ''), lrs.endpoint.replace('/xapi', '/xapi/v2')]) {
      const [line, ...others] = await sinkWith({}, { endpoint }).check(goingOn);
      expect(line).toEqual({ ok: false, text: expect.stringContaining('check the path of "endpoint"') });
      expect(others).toEqual([]);
    }
  });

  it('accepts an LRS that does not report its version', async () => {
    await start({ versions: ['1.0.3'] });
    lrs.faults.add({ effect: { kind: 'answer', answer: { status: 404 } }, path: '/about', times: 9 });
    expect(await lines()).toEqual([{ ok: true, text: expect.stringContaining('accepts the credentials') }]);
  });

  it.each([401, 403, 500])('fails with HTTP %d', async (status) => {
    answering(status);
    expect((await lines()).at(-1)).toEqual({ ok: false, text: expect.stringContaining(String(status)) });
  });

  it('reports if nothing answers and if the address is not an LRS', async () => {
    const portal = { kind: 'answer', answer: { status: 200, html: '<h1>Welcome</h1>' } } as const;
    lrs.faults.add({ effect: portal, times: Number.POSITIVE_INFINITY });
    expect((await lines())[0]).toEqual({ ok: false, text: expect.stringContaining('check "endpoint"') });
    await lrs.close();
    expect(await lines()).toEqual([{ ok: false, text: expect.stringContaining('refused the connection') }]);
  });
});

describe('the version of xAPI', () => {
  /** An LRS that does not name its versions is older than 2.0. */
  const old: LrsDoubleOptions = { versions: ['1.0.3'] };
  const aboutRequests = () => lrs.requests.filter(({ path }) => path.endsWith('/about'));
  const answerAbout = (answer: DoubleAnswer) =>
    lrs.faults.add({ effect: { kind: 'answer', answer }, path: '/about', times: Number.POSITIVE_INFINITY });

  it.each<{ version: LrsVersion; named: string; options?: LrsDoubleOptions; answer?: DoubleAnswer }>([
    { version: '2.0.0', named: 'only 2.0' },
    { version: '1.0.3', named: 'both', options: { versions: ['1.0.3', '2.0.0'] } }, // its stored statements have this version
    { version: '1.0.3', named: 'nothing because it has no such resource', options: old, answer: { status: 404 } },
    { version: '1.0.3', named: 'no version', options: old, answer: { status: 200, json: { version: [] } } },
  ])('is $version if the LRS names $named, and is requested once', async ({ version, options = {}, answer }) => {
    await start(options);
    if (answer !== undefined) answerAbout(answer);
    const sink = sinkWith();
    const planned = await operations(sink, 4);
    for (const part of [planned.slice(0, 2), planned.slice(2)]) {
      expect(tally((await sink.send(part, lane, goingOn)).outcomes)).toEqual({ delivered: 2 });
    }
    expect(aboutRequests()).toHaveLength(1);
    expect(asked().map(({ headers }) => headers['x-experience-api-version'])).toEqual([version, version]);
  });

  it('is requested again after everything was rejected, because the LRS may now support another version', async () => {
    await start({ versions: ['2.0.0'] });
    answerAbout({ status: 200, json: { version: ['1.0.3'] } });
    const sink = sinkWith();
    const planned = await operations(sink, 2);
    expect(kindsOf((await sink.send(planned, lane, goingOn)).outcomes)).toEqual(['rejected', 'rejected']);
    lrs.faults.clear();
    expect(kindsOf((await sink.send(planned, lane, goingOn)).outcomes)).toEqual(['delivered', 'delivered']);
  });
});

describe('an LRS that refuses every statement', () => {
  it('receives nothing after a few of them, and the rest is not sent', async () => {
    refusing(400, () => true);
    const sink = sinkWith();
    const { outcomes } = await sink.send(await operations(sink, 100), lane, goingOn);
    expect(tally(outcomes)).toEqual({ rejected: 5, unsent: 95 });
    expect(asked().length).toBeLessThanOrEqual(15);
  });
});
