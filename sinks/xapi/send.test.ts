import type { Lane, Outcome, Sink, SinkEnvironment } from '../sink.js';
import { configurationFor } from './configuration.test-kit.js';
import { type SmallLrs, startSmallLrs } from './lrs.test-kit.js';
import type { XapiOperation } from './plan.js';
import { items, subjectFor } from './subjects.test-kit.js';
import { createXapiSink, type XapiTuning } from './xapi.js';

const lane: Lane = {
  workspace: 'acme',
  pigeonholeId: 101,
  ledgerId: 'ledger',
  memory: {},
  remember: () => Promise.resolve(),
};
const goingOn = new AbortController().signal;

let lrs: SmallLrs;
const opened: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  lrs = await startSmallLrs();
});
afterEach(async () => {
  for (const sink of opened.splice(0)) await sink.close();
  await lrs.close();
});

function sinkWith(tuning: XapiTuning = {}, environment: Partial<SinkEnvironment> = {}): Sink<XapiOperation> {
  const sink = createXapiSink(
    configurationFor(lrs.endpoint),
    { name: 'lms', baseFolder: '/', network: { allowHosts: [] }, ...environment },
    { requestTimeoutMs: 60_000, ...tuning },
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
    let headers: Record<string, unknown> = {};
    lrs.answer = (request) => {
      headers = request.headers;
      return false;
    };
    const sending = await operations(sink, 100);
    const { outcomes } = await sink.send(sending, lane, goingOn);
    expect(tally(outcomes)).toEqual({ delivered: 100 });
    expect(outcomes.map(({ object }) => object)).toEqual(sending.map(({ after }) => after));
    expect(lrs.requests).toEqual(['POST 100']);
    expect(headers).toMatchObject({
      authorization: `Basic ${Buffer.from('lrs-key:lrs-s3cret').toString('base64')}`,
      'x-experience-api-version': '1.0.3',
      'content-type': 'application/json',
    });
    expect(lrs.valid()).toHaveLength(100);
  });

  it('of the same statements again changes nothing at the LRS', async () => {
    const sink = sinkWith();
    const sending = await operations(sink, 3);
    await sink.send(sending, lane, goingOn);
    const { outcomes } = await sink.send(sending, lane, goingOn);
    expect(tally(outcomes)).toEqual({ delivered: 3 });
    expect(lrs.stored.size).toBe(3);
  });

  it('is divided where it would be too large', async () => {
    const sink = sinkWith();
    const { outcomes } = await sink.send(await operations(sink, 90, 'x'.repeat(10_000)), lane, goingOn);
    expect(tally(outcomes)).toEqual({ delivered: 90 });
    expect(lrs.requests.length).toBeGreaterThan(1);
  });

  it.each([0, 1, 12, 24, 25, 49, 50, 62, 75, 98, 99])(
    'of 100 with one bad at place %d delivers 99 and parks that one in at most 15 requests',
    async (bad) => {
      const sink = sinkWith();
      const sending = await operations(sink, 100);
      lrs.refuses = ({ id }) => (id === sending[bad]!.statements[0]!.id ? 400 : undefined);
      const { outcomes } = await sink.send(sending, lane, goingOn);
      expect(outcomes.flatMap(({ kind }, place) => (kind === 'delivered' ? [] : [place]))).toEqual([bad]);
      expect(outcomes[bad]).toMatchObject({ kind: 'rejected', cause: 'http:400' });
      expect(JSON.stringify(outcomes)).not.toContain('Ada');
      expect(lrs.requests.length).toBeLessThanOrEqual(15);
      expect(lrs.valid()).toHaveLength(99);
    },
  );

  it('is divided until the LRS takes its size, and only what is too large alone is parked', async () => {
    const sink = sinkWith();
    const sending = await operations(sink, 20);
    const huge = sending[7]!.statements[0]!.id;
    lrs.answer = (_, response, statements) => {
      const isTooLarge = statements.length > 6 || statements.some(({ id }) => id === huge);
      if (isTooLarge) response.writeHead(413).end();
      return isTooLarge;
    };
    const { outcomes } = await sink.send(sending, lane, goingOn);
    expect(tally(outcomes)).toEqual({ delivered: 19, rejected: 1 });
    expect(outcomes[7]).toMatchObject({ kind: 'rejected', cause: 'http:413' });
  });
});

describe('a statement whose id is in use', () => {
  const stored = async (change: (statement: Record<string, unknown>) => object) => {
    const sink = sinkWith();
    const sending = await operations(sink, 5);
    const statement = JSON.parse(JSON.stringify(sending[2]!.statements[0])) as { id: string };
    lrs.stored.set(statement.id, { ...statement, ...change(statement) });
    return { sink, sending };
  };

  it('is delivered when the LRS holds a statement with the same meaning', async () => {
    const { sink, sending } = await stored(({ context }) => ({
      stored: '2026-11-21T09:30:01.000Z',
      timestamp: '2026-11-21T10:30:00+01:00',
      context: { ...(context as object), language: 'en' },
    }));
    expect(tally((await sink.send(sending, lane, goingOn)).outcomes)).toEqual({ delivered: 5 });
  });

  it('is parked, alone, when the LRS holds another statement', async () => {
    const { sink, sending } = await stored(() => ({ result: { response: 'Ada Lovelace' } }));
    const { outcomes } = await sink.send(sending, lane, goingOn);
    expect(kindsOf(outcomes)).toEqual(['delivered', 'delivered', 'rejected', 'delivered', 'delivered']);
    expect(outcomes[2]).toMatchObject({ cause: 'conflict', detail: expect.stringContaining('HTTP 409') });
    expect(JSON.stringify(outcomes)).not.toContain('Ada');
  });

  it('is delivered with what voids the one before, when only that is missing', async () => {
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
    lrs.stored.set(operation.statements[0]!.id, { ...operation.statements[0]!, stored: 'by an attempt before' });
    const { outcomes } = await sink.send([operation], lane, goingOn);
    expect(kindsOf(outcomes)).toEqual(['delivered']);
    expect(lrs.valid()).toEqual([operation.statements[0]!.id]);
  });

  it('waits when the LRS does not return the statement that it holds', async () => {
    const { sink, sending } = await stored(() => ({ stored: 'x' }));
    lrs.answer = (request, response) => {
      if (request.method === 'GET') response.writeHead(500).end();
      return request.method === 'GET';
    };
    const { outcomes } = await sink.send(sending.slice(2, 3), lane, goingOn);
    expect(outcomes).toEqual([expect.objectContaining({ kind: 'retry', object: sending[2]!.unsure })]);
  });
});

describe('an LRS', () => {
  const answering = (status: number, headers: Record<string, string> = {}, body = '') => {
    lrs.answer = (_, response) => {
      response.writeHead(status, headers).end(body);
      return true;
    };
  };

  it.each([
    [401, { kind: 'pause', cause: 'credential' }, false],
    [403, { kind: 'pause', cause: 'credential' }, false],
    [404, { kind: 'retry', detail: expect.stringContaining('check "endpoint"') }, false],
    [302, { kind: 'retry', detail: expect.stringContaining('not followed') }, false],
    [429, { kind: 'retry' }, false],
    [500, { kind: 'retry' }, true],
    [503, { kind: 'retry' }, true],
    [200, { kind: 'retry', detail: expect.stringContaining('not the answer of an LRS') }, true],
  ])(
    'that answers %d delivers nothing, and leaves it open where something may be stored',
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

  it('that asks to wait is left alone by all lanes until then', async () => {
    let now = 1_000_000;
    const sink = sinkWith({ now: () => now });
    const sending = await operations(sink, 2);
    answering(429, { 'retry-after': '60' });
    await sink.send(sending.slice(0, 1), lane, goingOn);
    now += 20_000;
    lrs.answer = () => false;
    const waiting = await sink.send(sending, { ...lane, pigeonholeId: 102 }, goingOn);
    expect(waiting.outcomes).toEqual([0, 1].map(() => expect.objectContaining({ kind: 'retry', afterMs: 40_000 })));
    expect(lrs.requests).toHaveLength(1);
    now += 40_000;
    expect(tally((await sink.send(sending, lane, goingOn)).outcomes)).toEqual({ delivered: 2 });
  });

  it('that does not answer leaves it open, and one that was never reached does not', async () => {
    const sink = sinkWith({ requestTimeoutMs: 500 });
    const sending = await operations(sink, 1);
    lrs.answer = () => true;
    const silent = await sink.send(sending, lane, goingOn);
    expect(silent.outcomes[0]).toMatchObject({ kind: 'retry', detail: expect.stringMatching(/within 0.5 s$/) });
    expect(silent.outcomes[0]!.object).toEqual(sending[0]!.unsure);
    await lrs.close();
    const gone = await sink.send(sending, lane, goingOn);
    expect(gone.outcomes[0]).toEqual({ kind: 'retry', detail: expect.stringContaining('refused the connection') });
  });

  it('is asked no more often than `limits` says', async () => {
    const sink = sinkWith({}, { limits: { per10s: 3 } }); // the first asks for the version
    const sending = await operations(sink, 3);
    for (const each of sending.slice(0, 2)) await sink.send([each], lane, goingOn);
    const stop = new AbortController();
    const third = sink.send(sending.slice(2), lane, stop.signal);
    await fetch(`${lrs.endpoint}/about`); // by when an unlimited third one would have come
    stop.abort();
    expect(kindsOf((await third).outcomes)).toEqual(['retry']);
    expect(lrs.requests.filter((line) => line.startsWith('POST'))).toHaveLength(2);
  });
});

describe('an attempt that died', () => {
  it('leaves its statements open, so that what may stand can be voided', async () => {
    const sink = sinkWith();
    const sending = await operations(sink, 2);
    const { outcomes } = await sink.recover!(sending, lane, goingOn);
    expect(outcomes).toEqual(sending.map(({ unsure }) => ({ kind: 'unsent', object: unsure })));
    expect(lrs.requests).toEqual([]);
  });
});

describe('a check', () => {
  const lines = async () => await sinkWith().check(goingOn);

  it('finds the LRS and its version, and that it accepts the credentials', async () => {
    expect(await lines()).toEqual([
      { ok: true, text: expect.stringContaining('xAPI 1.0') },
      { ok: true, text: expect.stringContaining('accepts the credentials') },
    ]);
    expect(lrs.requests.filter((line) => line.startsWith('POST'))).toEqual([]);
  });

  it.each([401, 403, 500])('is not content with %d', async (status) => {
    lrs.answer = (request, response) => {
      const isAbout = request.url!.endsWith('/about');
      if (!isAbout) response.writeHead(status).end();
      return !isAbout;
    };
    expect((await lines()).at(-1)).toEqual({ ok: false, text: expect.stringContaining(String(status)) });
  });

  it('says when nothing is there, and when it is no LRS', async () => {
    lrs.answer = (_, response) => {
      response.writeHead(200).end('<h1>Welcome</h1>');
      return true;
    };
    lrs.isPortal = true;
    expect((await lines())[0]).toEqual({ ok: false, text: expect.stringContaining('check "endpoint"') });
    await lrs.close();
    expect(await lines()).toEqual([{ ok: false, text: expect.stringContaining('refused the connection') }]);
  });
});

describe('the version of xAPI', () => {
  it.each([
    ['2.0.0', ['2.0.0']],
    ['1.0.3', ['1.0.0', '1.0.3', '2.0.0']], // what it holds already is of that version
    ['1.0.3', undefined],
    ['1.0.3', []],
  ])('is %s where the LRS speaks %j, and is asked once', async (version, versions) => {
    lrs.versions = versions;
    const sink = sinkWith();
    const planned = await operations(sink, 4);
    for (const part of [planned.slice(0, 2), planned.slice(2)]) {
      expect(tally((await sink.send(part, lane, goingOn)).outcomes)).toEqual({ delivered: 2 });
    }
    expect([lrs.about, lrs.spoken]).toEqual([1, [version, version]]);
  });

  it('is asked again after everything was refused: the LRS may speak another by now', async () => {
    const sink = sinkWith();
    lrs.refuses = () => (lrs.spoken.at(-1) === '2.0.0' ? undefined : 400);
    const planned = await operations(sink, 2);
    expect(kindsOf((await sink.send(planned, lane, goingOn)).outcomes)).toEqual(['rejected', 'rejected']);
    lrs.versions = ['2.0.0'];
    expect(kindsOf((await sink.send(planned, lane, goingOn)).outcomes)).toEqual(['delivered', 'delivered']);
  });
});

describe('an LRS that refuses every statement', () => {
  it('is left alone after a few of them, and the rest counts as not sent', async () => {
    lrs.refuses = () => 400;
    const sink = sinkWith();
    const { outcomes } = await sink.send(await operations(sink, 100), lane, goingOn);
    expect(tally(outcomes)).toEqual({ rejected: 5, unsent: 95 });
    expect(lrs.requests.length).toBeLessThanOrEqual(15);
  });
});
