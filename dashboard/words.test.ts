import {
  capitalized,
  splitAtInstants,
  labelOf,
  goneState,
  pigeonholeState,
  readingState,
  sinkState,
  stateChoices,
  troubleHeading,
  laneState,
  observedNote,
  wouldHaveSent,
  wouldHaveWithheld,
} from './words.js';

describe('the texts of the page', () => {
  it('capitalize a sentence, but not a command', () => {
    expect(capitalized('nothing is read')).toBe('Nothing is read');
    expect(capitalized('pigeonpost import FILE')).toBe('pigeonpost import FILE');
  });

  it('split a sentence into instants and text', () => {
    const at = '2026-11-21T09:30:00.000Z';
    expect(splitAtInstants(`waits since ${at}, and`)).toEqual([
      { text: 'waits since ', instant: false },
      { text: at, instant: true },
      { text: ', and', instant: false },
    ]);
    expect(splitAtInstants('paused since 2026-11-21 09:30 UTC.')).toEqual([
      { text: 'paused since ', instant: false },
      { text: '2026-11-21T09:30Z', instant: true },
      { text: '.', instant: false },
    ]);
  });
});

describe('the filter by state', () => {
  it('offers every state', () => {
    expect(stateChoices).toEqual([
      ['working', 'up to date'],
      ['backfilling', 'first read'],
      ['waiting', 'waiting'],
      ['paused', 'paused'],
      ['failing', 'failing'],
    ]);
  });
});

describe('the number of changes that an observing sink would have sent', () => {
  it('includes the anonymous ones, which a note counts', () => {
    const note = '1,200 of them anonymously';
    expect(wouldHaveSent({ wouldSend: 40, wouldSendAnonymously: 1200 })).toEqual({ changes: 1240, note });
    expect(wouldHaveSent({ wouldSend: 40, wouldSendAnonymously: 0 })).toEqual({ changes: 40, note: undefined });
  });
});

describe('the number of changes that an observing sink would have withheld', () => {
  it('has a note with the reasons', () => {
    const wouldWithhold = { 'consent-refused': 1200, 'no-match': 3 };
    const note = '1,200 consent refused, 3 no value to match by';
    expect(wouldHaveWithheld({ wouldWithhold })).toEqual({ changes: 1203, note });
    expect(wouldHaveWithheld({ wouldWithhold: {} })).toEqual({ changes: 0, note: undefined });
  });
});

describe('the note beside the backlog of an observing sink', () => {
  it('says that nothing is left to count only if the backlog is empty', () => {
    expect(observedNote(0)).toBe('all changes are counted; this sink only observes');
    expect(observedNote(12)).toBe('not counted yet; this sink only observes');
  });
});

describe('the state of a sink in a pigeonhole', () => {
  const behind = { failure: null, undeliveredSince: '2026-11-21T09:30:00.000Z' };
  const sink = { pause: null, observation: null, approval: null };

  it.each([
    ['sending', behind, sink],
    ['observing', behind, { ...sink, observation: {} }],
    ['sending', behind, { ...sink, observation: {}, approval: {} }],
    ['paused', behind, { ...sink, pause: {} }],
    ['paused', { ...behind, failure: 'HTTP 503' }, { ...sink, pause: {} }],
    ['failing', { ...behind, failure: 'HTTP 503' }, sink],
    ['up to date', { ...behind, undeliveredSince: null }, { ...sink, pause: {} }],
  ])('is %p', (word, lane, given) => {
    expect(laneState(lane, given)[1]).toBe(word);
  });
});

type Trouble = Parameters<typeof labelOf>[0];
const failing: Trouble = { kind: 'sink', severity: 'error', stops: true, state: null };
const withholding: Trouble = { kind: 'sink', severity: 'error', stops: false, state: 'withholds too much' };
const late: Trouble = { kind: 'pigeonhole', severity: 'warning', stops: false, state: 'late' };
const letters: Trouble = { kind: 'sink', severity: 'warning', stops: false, state: 'dead letters' };
const observing: Trouble = { kind: 'sink', severity: 'notice', stops: false, state: null };

describe('the words of the page for problems', () => {
  it('say "Stopped" only for problems that stop something', () => {
    expect([failing, withholding, late, observing].map(labelOf)).toEqual(['Stopped', 'Problem', 'Warning', 'Note']);
  });

  it.each<[string | null, readonly Trouble[]]>([
    ['One thing has stopped', [failing, late]],
    ['2 things have stopped', [failing, failing]],
    ['One problem', [withholding, late]],
    ['2 problems', [failing, withholding]],
    ['One warning', [late, observing]],
    [null, [observing]],
  ])('have the heading %p', (heading, troubles) => {
    expect(troubleHeading(troubles)).toBe(heading);
  });

  it.each<[string, string, readonly Trouble[]]>([
    ['good', 'up to date', [observing]],
    ['bad', '1 problem', [withholding, letters]],
    ['bad', '1 problem', [failing]],
    ['warning', 'late', [late]],
    ['warning', '1 warning', [letters]],
  ])('have the tone %s and the label %p for reading', (tone, word, troubles) => {
    expect(readingState('working', troubles)).toEqual([tone, word]);
    expect(readingState('paused', troubles)).toEqual(['bad', 'paused']);
  });

  it('call lists up to date only once those due during an outage have been read', () => {
    expect(readingState('working', [], true)).toEqual(['busy', 'catching up']);
    expect(readingState('working', [failing], true)).toEqual(['bad', '1 problem']);
    expect(readingState('waiting', [], true)).toEqual(['warning', 'waiting']);
  });

  it('show a waiting sync as bad once one of its sinks has stopped', () => {
    expect(readingState('waiting', [late])).toEqual(['warning', 'waiting']);
    expect(readingState('waiting', [late, failing])).toEqual(['bad', 'waiting, 1 problem']);
    expect(readingState('backfilling', [failing, withholding])).toEqual(['bad', 'first read, 2 problems']);
  });

  it('never show a sink with a problem as up to date', () => {
    const sink = {
      state: 'working',
      backlog: 0,
      withholding: [],
      observation: null,
      approval: null,
      replays: [],
    } as const;
    const state = (given: object, ...troubles: Trouble[]) => sinkState({ ...sink, ...given, troubles });
    expect(state({})).toEqual(['good', 'up to date']);
    expect(state({ backlog: 1 })).toEqual(['busy', 'sending']);
    expect(state({ replays: [{}] })).toEqual(['busy', 'sending again']);
    expect(state({ backlog: 1, replays: [{}] })).toEqual(['busy', 'sending again']);
    expect(state({ replays: [{}] }, letters)).toEqual(['warning', 'dead letters']);
    expect(state({ backlog: 1 }, { ...letters, state: 'behind' })).toEqual(['warning', 'behind']);
    expect(state({}, letters)).toEqual(['warning', 'dead letters']);
    expect(state({ withholding: [{}] }, withholding)).toEqual(['bad', 'withholds too much']);
    expect(state({ withholding: [{ kind: 'event' }] })).not.toEqual(['bad', 'withholds too much']);
    expect(state({ observation: {} }, observing)).toEqual(['quiet', 'observing']);
    expect(state({ observation: {}, withholding: [{}] }, observing)).toEqual(['bad', 'would withhold too much']);
    expect(state({ state: 'failing' }, failing)).toEqual(['bad', 'failing']);
  });
});

describe('the state of a pigeonhole', () => {
  const running = { state: 'working', goneAt: null, troubles: [], freshness: { catchingUp: false } } as const;

  it('is that of its reading, until the service has deleted it', () => {
    expect(pigeonholeState(running)).toEqual(readingState('working', []));
    expect(pigeonholeState({ ...running, state: 'failing', goneAt: '2026-11-21T09:30:00.000Z' })).toEqual(goneState);
  });
});
