import { type LiveChangeId, sinksInWords, type SinkNews, sinksOf, withChanges, withDeliveries } from './live-lines.js';

const change = (sequence: number, list: string, more: Partial<LiveChangeId> = {}): LiveChangeId => ({
  workspace: 'acme',
  pigeonholeId: 101,
  sequence,
  list,
  key: '9001',
  kind: 'created',
  foundAt: '2026-11-21T08:00:00.000Z',
  ...more,
});
const has = (sink: string): SinkNews => ({ sink, state: 'has', words: null });
const waits = (sink: string): SinkNews => ({ sink, state: 'waits', words: null });
const place = { workspace: 'acme', pigeonholeId: 101 };

describe('the lines of a live view', () => {
  it('are one for a question that is in both lists, in whatever order they arrive', () => {
    const lines = withChanges([], [change(1, 'questions'), change(2, 'votes'), change(3, 'qna-questions')], 10);
    expect(lines.map(({ change: { list }, names }) => [list, names])).toEqual([
      ['votes', ['acme/101 2']],
      ['qna-questions', ['acme/101 1', 'acme/101 3']],
    ]);
    const later = withChanges(withChanges([], [change(1, 'qna-questions')], 10), [change(2, 'questions')], 10);
    expect(later.map(({ change: { list }, names }) => [list, names.length])).toEqual([['qna-questions', 2]]);
  });

  it('are two for another question, event or kind, for a third change, and for edits that are minutes apart', () => {
    const first = change(1, 'questions');
    for (const other of [{ key: '9002' }, { pigeonholeId: 102 }, { workspace: 'other' }, { kind: 'updated' }]) {
      expect(withChanges([], [first, change(2, 'qna-questions', other)], 10)).toHaveLength(2);
    }
    const twice = [first, change(2, 'qna-questions'), change(3, 'qna-questions')];
    expect(withChanges([], twice, 10)).toHaveLength(2);
    const edits = (foundAt: string) => [
      change(1, 'questions', { kind: 'updated' }),
      change(2, 'qna-questions', { kind: 'updated', foundAt }),
    ];
    expect(withChanges([], edits('2026-11-21T08:01:00.000Z'), 10)).toHaveLength(1);
    expect(withChanges([], edits('2026-11-21T08:10:00.000Z'), 10)).toHaveLength(2);
  });

  it('keep the newest', () => {
    const found = Array.from({ length: 5 }, (_, n) => change(n, 'votes', { key: String(n) }));
    expect(withChanges([], found, 3).map(({ change: { sequence } }) => sequence)).toEqual([4, 3, 2]);
  });

  it('say what each sink has; one that receives both lists of questions has it when it has both', () => {
    const lines = withChanges([], [change(1, 'questions'), change(2, 'qna-questions')], 10);
    const half = withDeliveries(lines, [
      { ...place, sequence: 1, sinks: [has('hooks'), has('archive')] },
      { ...place, sequence: 2, sinks: [waits('hooks')] },
      { ...place, sequence: 7, sinks: [waits('hooks')] },
    ]);
    expect(sinksOf(half[0]!)).toEqual([has('archive'), waits('hooks')]);
    const all = withDeliveries(half, [{ ...place, sequence: 2, sinks: [has('hooks')] }]);
    expect(sinksInWords(sinksOf(all[0]!))).toBe('archive has it; hooks has it');
    expect(
      sinksInWords([
        { sink: 'crm', state: 'not', words: 'consent refused' },
        { sink: 'lms', state: 'refused', words: null },
        waits('slack'),
      ]),
    ).toBe('crm does not receive it: consent refused; lms refused it; slack waits');
  });
});
