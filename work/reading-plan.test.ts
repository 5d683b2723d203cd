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
  ...(lists === undefined ? {} : { lists }),
});
const config = (syncs: Record<string, SyncConfig>, sinks: Record<string, SinkConfig>) =>
  ({ syncs, sinks }) as unknown as Config;

describe('what is read of a pigeonhole', () => {
  it('is every list for a sink that takes all, with what says who may be shown before what people did', () => {
    const { lists } = planReading(config({ a: sync({}) }, { archive: sink() }), ['a'], 'pigeonhole');
    expect(lists.slice(0, 3)).toEqual(['sessions', 'attendees', 'qna-questions']);
    expect(lists).toHaveLength(9);
  });

  it.each([
    [['attendees'], ['attendees']],
    [['sessions'], ['sessions']],
    [['questions'], ['sessions', 'attendees', 'qna-questions', 'questions']],
    [['votes'], ['sessions', 'attendees', 'votes']],
    [['answers'], ['sessions', 'attendees', 'answers']],
    [['poll-mcq-votes'], ['attendees', 'poll-mcq-votes']],
    [['qna-questions'], ['attendees', 'qna-questions']],
  ] as const)('for a sink that wants %j is %j', (wanted, expected) => {
    const plan = planReading(config({ a: sync({}) }, { archive: sink(wanted) }), ['a'], 'pigeonhole');
    expect(plan.lists).toEqual(expected);
    expect([...plan.sinks.keys()]).toEqual(wanted); // what is only needed goes to no sink
  });

  it('is, for a derived list, what that is made from, and the list goes to who named it alone', () => {
    const plan = planReading(
      config(
        { a: sync({ sinks: ['archive', 'hooks'] }) },
        { archive: sink(['engagement']), hooks: sink(['sessions']) },
      ),
      ['a'],
      'pigeonhole',
    );
    expect(plan.lists.toSorted()).toEqual(
      [
        'sessions',
        'attendees',
        'qna-questions',
        'votes',
        'answer_ratings',
        'answers',
        'poll-mcq-votes',
        'poll-quiz-votes',
      ].toSorted(),
    );
    expect([...plan.sinks]).toEqual([
      ['sessions', ['hooks']],
      ['engagement', ['archive']],
    ]);
    const all = planReading(config({ a: sync({}) }, { archive: sink() }), ['a'], 'pigeonhole');
    expect(all.sinks.has('engagement')).toBe(false);
  });

  it('is nothing that the sync leaves out, but for what the rest needs', () => {
    const plan = planReading(config({ a: sync({ lists: ['votes'] }) }, { archive: sink() }), ['a'], 'pigeonhole');
    expect(plan.lists).toEqual(['sessions', 'attendees', 'votes']);
  });

  it('is united over the syncs that name it: lists, drops, sinks', () => {
    const syncs = {
      a: sync({ lists: ['attendees'], drop: { attendees: ['linkedIn'], votes: ['x'] } }),
      b: sync({ sinks: ['hooks', 'archive'], drop: { attendees: ['twitter', 'linkedIn'] } }),
    };
    const plan = planReading(config(syncs, { archive: sink(), hooks: sink(['attendees']) }), ['a', 'b'], 'pigeonhole');
    // the passcode of an event enters no ledger, whatever is configured
    expect(plan.drop).toEqual({ attendees: ['linkedIn', 'twitter'], votes: ['x'], pigeonholes: ['passcode'] });
    expect(plan.sinks.get('attendees')).toEqual(['archive', 'hooks']);
    expect(plan.sinks.get('questions')).toEqual(['archive']);
  });

  it('are, of a workspace, the pigeonholes also where no sink wants them', () => {
    const plan = planReading(config({ a: sync({}) }, { archive: sink(['votes']) }), ['a'], 'workspace');
    expect(plan.lists).toEqual(['pigeonholes']);
    expect(plan.sinks.size).toBe(0);
  });

  it('is a stream a list, or one a session for lists that can only be read so', () => {
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

  it('takes the strictest limits of deletions', () => {
    const syncs = {
      a: sync({ deletions: { settleMs: 5, confirmMs: 3, holdAbove: { share: 0.5, items: 10 } } }),
      b: sync({ deletions: { settleMs: 9, confirmMs: 2, holdAbove: { share: 0.1, items: 20 } } }),
    };
    const { deletions } = planReading(config(syncs, { archive: sink() }), ['a', 'b'], 'pigeonhole');
    expect(deletions).toEqual({ settleMs: 9, confirmMs: 3, holdAbove: { share: 0.1, items: 10 } });
  });
});
