import type { Exchange } from '../sinks/network/exchange-log.js';
import type { Outcome, Planned, Sink } from '../sinks/sink.js';
import { type AttemptContent, attemptsOf, ContentBudget, type SentBatch } from './attempt-log.js';
import type { ShownChange } from './candidates.js';

const sink = {
  preview: ({ changeId }: { readonly changeId: string }) => [
    { method: 'POST', address: 'https://crm.example/records', body: { of: changeId } },
  ],
} as unknown as Sink;

const delivered: Outcome = { kind: 'delivered' };

function batchOf(outcomes: readonly Outcome[], exchanges: readonly Partial<Exchange>[] = []): SentBatch {
  return {
    changes: outcomes.map((_, at) => ({ sequence: at + 1, replay: 0, list: 'votes', key: String(at) }) as ShownChange),
    planned: outcomes.map((_, at): Planned => ({ kind: 'send', operation: { changeId: `change-${at}` } })),
    settlements: outcomes,
    exchanges: exchanges.map((each) => ({
      method: 'POST',
      address: 'https://crm.example/records',
      status: 200,
      requestId: 'req-1',
      startedAt: 0,
      endedAt: 12,
      answer: () => ({ body: 'answered', cut: false }),
      changeIds: null,
      ...each,
    })),
    durationMs: 40,
  };
}

const budgetsOf = (delivered: number, failed: number) => ({
  delivered: new ContentBudget(delivered, () => 0),
  failed: new ContentBudget(failed, () => 0),
});

const contents = (batch: SentBatch) =>
  attemptsOf(sink, batch, budgetsOf(99, 99)).map(({ content }) => JSON.parse(content!) as AttemptContent);

describe('the attempts of a batch', () => {
  it('are those that were sent, each with its code, status and request id', () => {
    const batch = batchOf(
      [
        delivered,
        { kind: 'rejected', cause: 'too-long', detail: 'the name is too long' },
        { kind: 'retry', detail: 'HTTP 503' },
        { kind: 'retry', detail: 'no answer' },
        { kind: 'pause', cause: 'credential', detail: 'HTTP 401' },
        { kind: 'unsent' },
      ],
      [
        { changeIds: ['change-0'] },
        { changeIds: ['change-1'], status: 422, endedAt: 30 },
        { changeIds: ['change-2'], status: 503 },
        { changeIds: ['change-3'], status: null, requestId: null },
        { changeIds: ['change-4'], status: 401 },
      ],
    );
    const rows = attemptsOf(sink, batch, budgetsOf(99, 99));
    expect(
      rows.map(({ key, outcome, cause, status, durationMs }) => [key, outcome, cause, status, durationMs]),
    ).toEqual([
      ['0', 'delivered', null, 200, 12],
      ['1', 'rejected', 'too-long', 422, 30],
      ['2', 'retry', 'http-503', 503, 12],
      ['3', 'retry', 'no-answer', null, 12],
      ['4', 'pause', 'credential', 401, 12],
    ]);
    expect(rows[3]!.requestId).toBeNull();
  });

  it('have the request of their item alone, and answers only to calls that were about it alone', () => {
    const [first, second] = contents(
      batchOf([delivered, delivered], [{ changeIds: ['change-0', 'change-1'] }, { changeIds: ['change-1'] }]),
    );
    expect(first!.requests.map(({ body }) => JSON.parse(body!) as unknown)).toEqual([{ of: 'change-0' }]);
    expect(first!.calls).toMatchObject([{ shared: true, address: 'https://crm.example/…', answer: null }]);
    expect(second!.calls).toMatchObject([
      { shared: false, answer: { body: 'answered' } },
      { shared: true, answer: null },
    ]);
  });

  it('have a refusal of a batch with one change, and no other answer to a call of which the sink says nothing', () => {
    const calls = [{ status: 200 }, { status: 400 }];
    const refused: Outcome = { kind: 'rejected', cause: 'http-400', detail: 'refused' };
    expect(contents(batchOf([refused], calls))[0]!.calls.map(({ answer }) => answer)).toEqual([
      null,
      { body: 'answered', cut: false },
    ]);
    expect(contents(batchOf([refused, refused], calls))[0]!.calls.map(({ answer }) => answer)).toEqual([null, null]);
  });

  it('are all kept if they failed, but only some with content; those that succeeded only within the limit', () => {
    const outcomes = Array.from({ length: 10 }, (_, at): Outcome =>
      at < 5 ? delivered : { kind: 'retry', detail: 'x' },
    );
    const rows = attemptsOf(sink, batchOf(outcomes), budgetsOf(2, 3));
    expect(rows.map(({ outcome, content }) => `${outcome} ${content === null ? 'without' : 'with'}`)).toEqual([
      ...Array.from({ length: 2 }, () => 'delivered with'),
      ...Array.from({ length: 3 }, () => 'retry with'),
      ...Array.from({ length: 2 }, () => 'retry without'),
    ]);
  });

  it('of a sink without HTTP say what it did', () => {
    const rows = attemptsOf(sink, batchOf([delivered]), budgetsOf(1, 1));
    expect(rows).toMatchObject([{ status: null, requestId: null, durationMs: 40 }]);
    expect(JSON.parse(rows[0]!.content!)).toMatchObject({ requests: [{ method: 'POST' }], calls: [], furtherCalls: 0 });
  });

  it('never stop a lane because the sink cannot show an operation', () => {
    const failing = { preview: () => JSON.parse('{') as never } as unknown as Sink;
    expect(attemptsOf(failing, batchOf([delivered]), budgetsOf(1, 1))).toHaveLength(1);
  });
});

describe('the limit of kept contents', () => {
  it('fills again as time passes', () => {
    let now = 0;
    const budget = new ContentBudget(2, () => now);
    expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false]);
    now += 30_000;
    expect([budget.take(), budget.take()]).toEqual([true, false]);
    now += 3_600_000;
    expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false]);
  });
});
