import type { StreamRead } from './count-source.js';
import {
  interruptedSeconds,
  isReadAfter,
  judgeDestination,
  judgeInterruptions,
  judgeList,
  openPoints,
} from './judge-statement.js';
import type { Destination, Parity } from './statement.js';
import { differenceRows } from './statement-rows.js';
import { parityText } from './statement-sentences.js';
import { statementOf } from './statement.test-kit.js';

const at = (time: string): Date => new Date(`2026-11-21T${time}.000Z`);
const read: StreamRead = {
  list: 'votes',
  sessionId: 1,
  isRead: true,
  isGone: false,
  from: at('10:00:00'),
  until: at('10:00:05'),
  failure: null,
  setAside: 0,
};

describe('a list of a statement', () => {
  it('agrees if the service shows exactly what the ledger has', () => {
    const reads = [read, { ...read, sessionId: 2, from: at('10:00:01'), until: at('10:00:09') }];
    const counts = [
      { sessionId: 1, class: 'both', items: 30 },
      { sessionId: 2, class: 'both', items: 12 },
    ] as const;
    expect(judgeList({ list: 'votes', reads, counts }, { hasErasures: false })).toEqual({
      list: 'votes',
      label: 'Votes for questions',
      shown: 42,
      held: 42,
      differences: [],
      readFrom: '2026-11-21T10:00:00.000Z',
      readUntil: '2026-11-21T10:00:09.000Z',
      sessions: [
        { session: 1, shown: 30, held: 30 },
        { session: 2, shown: 12, held: 12 },
      ],
    });
  });

  it('names each difference, with the sign of the side that has more', () => {
    const counts = [
      { sessionId: 1, class: 'both', items: 10 },
      { sessionId: 1, class: 'erased', items: 2 },
      { sessionId: 1, class: 'unknown', items: 1 },
      { sessionId: 1, class: 'deletion-held', items: 4 },
      { sessionId: 2, class: 'new-since', items: 3 },
    ] as const;
    const found = judgeList({ list: 'votes', reads: [{ ...read, setAside: 5 }], counts }, { hasErasures: true });
    expect(found).toMatchObject({ shown: 18, held: 17 });
    expect(found.differences.map(({ reason, items, open }) => [reason, items, open])).toEqual([
      ['erased', 3, false],
      ['deletion-held', -4, true],
      ['new-since', -3, true],
      ['unusable', 5, true],
    ]);
    expect(found.sessions).toEqual([
      { session: 1, shown: 13, held: 14 },
      { session: 2, shown: 0, held: 3 },
      { session: null, shown: 5, held: 0 },
    ]);
  });

  it('has an unexplained difference if the ledger lacks an item and nobody was erased', () => {
    const counts = [{ sessionId: null, class: 'unknown', items: 1 }] as const;
    const { differences } = judgeList({ list: 'attendees', reads: [read], counts }, { hasErasures: false });
    expect(differences).toMatchObject([{ reason: 'unexplained', items: 1, open: true }]);
  });

  it('counts as not read if one of its sessions was not read', () => {
    const reads = [read, { ...read, sessionId: 2, isRead: false }];
    const counts = [{ sessionId: 2, class: 'not-read', items: 7 }] as const;
    expect(judgeList({ list: 'votes', reads, counts }, { hasErasures: false })).toMatchObject({
      readFrom: null,
      differences: [{ reason: 'not-read', items: -7, open: true }],
    });
  });
});

describe('a destination of a statement', () => {
  const sink = {
    sinkId: 1,
    name: 'crm',
    type: 'hubspot',
    state: 'working',
    lists: ['attendees'],
    parity: null,
  } as const;
  const counts = new Map([
    [
      'attendees',
      [
        { sinkId: 1, isPresent: true, outcome: 'delivered', reason: null, items: 45 },
        { sinkId: 1, isPresent: true, outcome: 'withheld', reason: 'unchanged', items: 5 },
        { sinkId: 1, isPresent: true, outcome: 'withheld', reason: 'consent-refused', items: 3 },
        { sinkId: 1, isPresent: true, outcome: 'waiting', reason: null, items: 2 },
        { sinkId: 1, isPresent: true, outcome: 'unsent', reason: 'before', items: 1 },
        { sinkId: 1, isPresent: false, outcome: 'delivered', reason: null, items: 4 },
        { sinkId: 2, isPresent: true, outcome: 'delivered', reason: null, items: 99 },
      ] as const,
    ],
  ]);

  it('adds up what became of each item, and its removals apart', () => {
    const [list] = judgeDestination(sink, counts).lists;
    expect(list).toMatchObject({
      items: 56,
      delivered: 50,
      withheld: 3,
      refused: 0,
      waiting: 2,
      unsent: 1,
      removed: { items: 4, delivered: 4 },
    });
    expect(list!.reasons.map(({ text, items, open }) => [text, items, open])).toEqual([
      ['people who did not agree that their data is passed on', 3, false],
      ['not sent yet', 2, true],
      ['found before this destination received this list, and its settings send nothing older', 1, false],
    ]);
  });

  it('waits for nothing if it only observes', () => {
    const [list] = judgeDestination({ ...sink, state: 'observing' }, counts).lists;
    expect(list).toMatchObject({ waiting: 0, unsent: 3 });
  });
});

describe('a comparison with a destination', () => {
  const same = { comparedAt: '2026-11-22T08:00:00.000Z', compared: 120, same: 120, explained: 0, unreadable: 0 };
  const none = { stale: 0, changed: 0, missing: 0, extra: 0 };
  const destination = (parity: Parity): Destination => ({ ...statementOf().destinations[0]!, parity });
  const points = (parity: Parity) =>
    openPoints({ source: { lists: [] }, destinations: [destination(parity)], notRead: [] });
  const sentence = (parity: Parity) => parityText(destination(parity), () => 'today', '2026-11-01T00:00:00.000Z');

  it('says that everything is there, and leaves nothing open', () => {
    expect(points({ ...same, ...none })).toEqual([]);
    expect(sentence({ ...same, ...none })).toBe(
      'Compared with what crm holds, today: of 120 delivered items, all are there as sent.',
    );
  });

  it('leaves each kind of difference open, on the page and in the table of differences', () => {
    const found = { ...same, same: 115, stale: 0, changed: 3, missing: 2, extra: 0 };
    expect(points(found).map(({ where, text, items }) => [where, text, items])).toEqual([
      ['crm', 'are not at the destination any more, although it had accepted them', 2],
      ['crm', 'were changed there by other people or programs', 3],
    ]);
    const statement = statementOf({ destinations: [destination(found)], open: points(found) });
    expect(differenceRows(statement).filter(({ kind }) => kind === 'comparison')).toMatchObject([
      { place: 'crm', reason: 'missing', items: 2, open: true, todo: expect.stringContaining('pigeonpost audit crm') },
      { place: 'crm', reason: 'changed', items: 3, open: true, todo: expect.stringContaining('pigeonpost audit crm') },
    ]);
    expect(sentence(found)).toContain('115 are there as sent; 2 are not at the destination any more');
  });

  it('needs nothing for what earlier settings explain, and says what cannot be read', () => {
    const found = { ...same, ...none, same: 100, explained: 15, unreadable: 5 };
    expect(points(found)).toEqual([]);
    expect(sentence(found)).toContain('100 are there as sent; 15 follow earlier settings; 5 cannot be read there');
  });
});

describe('the coverage of time', () => {
  const window = { from: at('08:00:00'), until: at('12:00:00') };

  it('cuts interruptions to the time in which the event was watched, and leaves out others', () => {
    const found = judgeInterruptions(
      [
        { cause: 'silent', since: at('10:00:00'), until: at('10:01:30') },
        { cause: 'stopped', since: at('07:00:00'), until: at('08:10:00') },
        { cause: 'late', since: at('06:00:00'), until: at('07:00:00') },
        { cause: 'paused', since: at('11:59:00'), until: null },
      ],
      window,
    );
    expect(found.map(({ cause, seconds, until }) => [cause, seconds, until])).toEqual([
      ['stopped', 600, '2026-11-21T08:10:00.000Z'],
      ['silent', 90, '2026-11-21T10:01:30.000Z'],
      ['paused', 60, null],
    ]);
  });

  it('counts a time in which several things interrupted the reading once', () => {
    const between = (since: string, until: string | null) => ({
      since: at(since).toISOString(),
      until: until === null ? null : at(until).toISOString(),
    });
    const found = [between('10:00:00', '10:10:00'), between('10:05:00', '10:06:00'), between('10:09:00', '10:12:00')];
    expect(interruptedSeconds(found, window.until)).toBe(720);
    expect(interruptedSeconds([...found, between('11:59:00', null)], window.until)).toBe(780);
    expect(interruptedSeconds([], window.until)).toBe(0);
  });

  it('is complete only if every list was read after the last interruption', () => {
    const list = { readFrom: '2026-11-21T11:00:00.000Z', differences: [] };
    expect(isReadAfter([list], [])).toBe(true);
    expect(isReadAfter([list], [{ until: '2026-11-21T10:59:00.000Z' }])).toBe(true);
    expect(isReadAfter([list], [{ until: '2026-11-21T11:01:00.000Z' }])).toBe(false);
    expect(isReadAfter([list], [{ until: null }])).toBe(false);
    expect(isReadAfter([{ ...list, readFrom: null, differences: [{ reason: 'not-read' }] as never }], [])).toBe(false);
  });
});
