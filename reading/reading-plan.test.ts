import { pigeonholeLists } from '../base/lists.js';
import type { Config, SinkConfig, SyncConfig } from '../config/config.js';
import { planReading, streamsOf } from './reading-plan.js';

const everyMs = { live: 5000, new: 1, upcoming: 1, ended: 1, sweep: 1, lists: {} };
const sync = (more: Partial<SyncConfig>): SyncConfig => ({
  workspace: 'acme',
  pigeonholes: {},
  lists: 'auto',
  everyMs,
  deletions: { settleMs: 1000, confirmMs: 100, holdAbove: { share: 0.05, items: 50 } },
  drop: {},
  sinks: ['archive'],
  ...more,
});
const sink = (lists?: SinkConfig['lists']): SinkConfig => ({
  type: 'file',
  settings: {},
  history: 'all',
  mode: 'send',
  onConsentWithdrawn: 'keep',
  onForget: 'clear-our-fields',
  audit: 'never',
  ...(lists === undefined ? {} : { lists }),
});
const config = (syncs: Record<string, SyncConfig>, sinks: Record<string, SinkConfig>) =>
  ({ syncs, sinks }) as unknown as Config;

describe('the reading plan', () => {
  it('contains every list for a sink that accepts all, and reads identity and consent before the items of attendees', () => {
    const { lists } = planReading(config({ a: sync({}) }, { archive: sink() }), ['a'], 'pigeonhole');
    expect(lists.slice(0, 3)).toEqual(['sessions', 'attendees', 'qna-questions']);
    expect(lists.toSorted()).toEqual(pigeonholeLists.toSorted());
  });

  it.each([
    [['attendees'], ['attendees']],
    [['sessions'], ['sessions']],
    [['questions'], ['sessions', 'attendees', 'qna-questions', 'questions']],
    [['votes'], ['sessions', 'attendees', 'votes']],
    [['answers'], ['sessions', 'attendees', 'answers']],
    [['poll-mcq-votes'], ['attendees', 'poll-mcq-votes']],
    [['qna-questions'], ['attendees', 'qna-questions']],
  ] as const)('contains %j for a sink that accepts %j', (wanted, expected) => {
    const plan = planReading(config({ a: sync({}) }, { archive: sink(wanted) }), ['a'], 'pigeonhole');
    expect(plan.lists).toEqual(expected);
    expect([...plan.sinks.keys()]).toEqual(wanted); // lists that are only dependencies go to no sink
  });

  it('contains the source lists of a derived list, which goes only to sinks that name it', () => {
    const plan = planReading(
      config(
        { a: sync({ sinks: ['archive', 'hooks'] }) },
        { archive: sink(['engagement']), hooks: sink(['sessions']) },
      ),
      ['a'],
      'pigeonhole',
    );
    expect(plan.lists.toSorted()).toEqual(
      pigeonholeLists.filter((list) => list !== 'questions').toSorted(), // `qna-questions` holds the same questions
    );
    expect([...plan.sinks]).toEqual([
      ['sessions', ['hooks']],
      ['engagement', ['archive']],
    ]);
    const all = planReading(config({ a: sync({}) }, { archive: sink() }), ['a'], 'pigeonhole');
    expect(all.sinks.has('engagement')).toBe(false);
  });

  it('omits a list that the sync does not name, unless another list depends on it', () => {
    const plan = planReading(config({ a: sync({ lists: ['votes'] }) }, { archive: sink() }), ['a'], 'pigeonhole');
    expect(plan.lists).toEqual(['sessions', 'attendees', 'votes']);
  });

  it('combines lists, drops and sinks of all syncs that select the pigeonhole', () => {
    const syncs = {
      a: sync({ lists: ['attendees'], drop: { attendees: ['linkedIn'], votes: ['x'] } }),
      b: sync({ sinks: ['hooks', 'archive'], drop: { attendees: ['twitter', 'linkedIn'] } }),
    };
    const plan = planReading(config(syncs, { archive: sink(), hooks: sink(['attendees']) }), ['a', 'b'], 'pigeonhole');
    // an event's passcode never enters the ledger
    expect(plan.drop).toEqual({ attendees: ['linkedIn', 'twitter'], votes: ['x'], pigeonholes: ['passcode'] });
    expect(plan.sinks.get('attendees')).toEqual(['archive', 'hooks']);
    expect(plan.sinks.get('questions')).toEqual(['archive']);
  });

  it('of a workspace contains the pigeonholes even if no sink accepts them', () => {
    const plan = planReading(config({ a: sync({}) }, { archive: sink(['votes']) }), ['a'], 'workspace');
    expect(plan.lists).toEqual(['pigeonholes']);
    expect(plan.sinks.size).toBe(0);
  });

  it('has one stream per list, or one per session for per-session lists', () => {
    const plan = planReading(config({ a: sync({}) }, { archive: sink(['questions', 'votes']) }), ['a'], 'pigeonhole');
    expect(streamsOf(plan, [1, 2]).map(({ list, sessionId }) => `${list} ${sessionId}`)).toEqual([
      'sessions 0',
      'attendees 0',
      'qna-questions 0',
      'questions 0',
      'votes 1',
      'votes 2',
    ]);
  });

  it('has the strictest deletion limits of all syncs', () => {
    const syncs = {
      a: sync({ deletions: { settleMs: 5, confirmMs: 3, holdAbove: { share: 0.5, items: 10 } } }),
      b: sync({ deletions: { settleMs: 9, confirmMs: 2, holdAbove: { share: 0.1, items: 20 } } }),
    };
    const { deletions } = planReading(config(syncs, { archive: sink() }), ['a', 'b'], 'pigeonhole');
    expect(deletions).toEqual({ settleMs: 9, confirmMs: 3, holdAbove: { share: 0.1, items: 10 } });
  });
});
