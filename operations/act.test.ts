import type { Collaborators, OpenSink } from '../cycles/collaborators.js';
import type { Outcome, Sink } from '../sinks/sink.js';
import { testSink } from './act.js';

/** Rows of the ledger, by the table that a statement reads. */
interface Rows {
  readonly pauses?: readonly object[];
  readonly approvals?: readonly object[];
}

function test(sendTest: Sink['sendTest'], { pauses = [], approvals = [] }: Rows = {}, observing = false) {
  const query = (statement: string): Promise<readonly object[]> =>
    Promise.resolve(statement.includes('from pauses') ? pauses : approvals);
  const open = { id: 1, name: 'hooks', observing, destination: 'there', sink: { sendTest } } as unknown as OpenSink;
  const deps = {
    config: { sinks: { hooks: { type: 'webhook' } } },
    ledger: { db: { query } },
    sinks: new Map([['hooks', open]]),
    log: { info: () => undefined },
  } as unknown as Collaborators;
  return testSink(deps, 'hooks');
}

const answering = (outcome: Outcome) => () => Promise.resolve(outcome);
const never = (): never => {
  throw new Error('a test was sent');
};

describe('a test of a sink', () => {
  it.each<[Outcome, { delivered: boolean; detail: string | null }]>([
    [
      { kind: 'delivered', detail: 'HTTP 200' },
      { delivered: true, detail: 'HTTP 200' },
    ],
    [{ kind: 'delivered' }, { delivered: true, detail: null }],
    [
      { kind: 'retry', detail: 'HTTP 500' },
      { delivered: false, detail: 'HTTP 500' },
    ],
    [{ kind: 'unsent' }, { delivered: false, detail: 'the sink could not send within its limits: try again' }],
  ])('returns the outcome %j as %j', async (outcome, result) => {
    expect(await test(answering(outcome))).toEqual(result);
  });

  it('is refused for a sink that stores records of people', async () => {
    expect(await test(undefined)).toEqual({
      refused: expect.stringContaining('"pigeonpost preview --sink hooks"'),
    });
  });

  it('is refused while the sink is paused', async () => {
    expect(await test(never, { pauses: [{ paused_by: 'person' }] })).toEqual({
      refused: expect.stringContaining('pigeonpost resume sink:hooks'),
    });
  });

  it('is refused while the sink observes, until an operator approves it', async () => {
    expect(await test(never, {}, true)).toEqual({ refused: expect.stringContaining('pigeonpost sink approve hooks') });
    const outcome = answering({ kind: 'delivered' });
    expect(await test(outcome, { approvals: [{}] }, true)).toMatchObject({ delivered: true });
  });

  it('returns "unknown" for a sink that does not exist', async () => {
    expect(await testSink({ sinks: new Map() } as unknown as Collaborators, 'gone')).toBe('unknown');
  });
});
