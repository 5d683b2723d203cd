import { describeProblem, type FoundProblem, type Problem } from '../problem.js';
import { judgeIncidents, type KnownIncident } from './judge-incidents.js';

const at = new Date('2026-11-21T10:00:00Z');
const secondsAgo = (seconds: number): Date => new Date(at.getTime() - seconds * 1000);

function problem(more: Partial<FoundProblem> = {}): Problem {
  return describeProblem({
    code: 'dead-letters',
    kind: 'sink',
    name: 'hooks',
    facts: { letters: 2 },
    detail: 'the words of a vendor',
    since: null,
    coveredBy: null,
    ...more,
  });
}

const [opened] = judgeIncidents([], [problem()], { at: secondsAgo(300) }).opened;
const open: KnownIncident = {
  ...opened!,
  number: 7,
  quietSince: null,
  endedAt: null,
  returns: 0,
  notedAt: secondsAgo(300),
};

describe('an incident', () => {
  it('starts when a problem is found, without the words of vendors and people', () => {
    const judged = judgeIncidents([], [problem({ since: secondsAgo(90) })], { at });
    expect(judged).toMatchObject({
      opened: [{ code: 'dead-letters', kind: 'sink', subject: 'hooks', since: secondsAgo(90) }],
      changed: [],
    });
    expect(JSON.stringify(judged)).not.toContain('vendor');
  });

  it('is not written again while its problem stays the same', () => {
    expect(judgeIncidents([open], [problem()], { at })).toEqual({ opened: [], changed: [] });
  });

  it('takes over new counts, once a minute', () => {
    const more = problem({ facts: { letters: 3 } });
    const [next] = judgeIncidents([open], [more], { at }).changed;
    expect(next).toMatchObject({ number: 7, title: more.title, notedAt: at });
    expect(judgeIncidents([{ ...open, notedAt: secondsAgo(59) }], [more], { at }).changed).toEqual([]);
  });

  it('ends after a minute without its problem, at the instant at which it was last found', () => {
    const [quiet] = judgeIncidents([open], [], { at }).changed;
    expect(quiet).toMatchObject({ quietSince: at, endedAt: null });
    const later = (seconds: number): Date => new Date(at.getTime() + seconds * 1000);
    expect(judgeIncidents([quiet!], [], { at: later(59) }).changed).toEqual([]);
    expect(judgeIncidents([quiet!], [], { at: later(60) }).changed).toMatchObject([{ endedAt: at }]);
  });

  it('continues if its problem is found again within the minute, or by the check of another process', () => {
    const quiet = { ...open, quietSince: secondsAgo(30) };
    expect(judgeIncidents([quiet], [problem()], { at })).toMatchObject({
      opened: [],
      changed: [{ number: 7, quietSince: null, endedAt: null, returns: 0 }],
    });
  });

  it('continues as the same incident if its problem returns soon after the end', () => {
    const ended = { ...open, quietSince: secondsAgo(200), endedAt: secondsAgo(200) };
    expect(judgeIncidents([ended, { ...ended, number: 3 }], [problem()], { at })).toMatchObject({
      opened: [],
      changed: [{ number: 7, endedAt: null, returns: 1, since: open.since }],
    });
  });

  it('neither starts nor ends while another problem explains its own', () => {
    const explained = problem({ coveredBy: 'sink-paused' });
    expect(judgeIncidents([], [explained], { at }).opened).toEqual([]);
    expect(judgeIncidents([open], [explained], { at }).changed).toEqual([]);
  });

  it('stays as it is if the check cannot find its problem', () => {
    expect(judgeIncidents([open], [], { at, unjudged: (code) => code === 'dead-letters' }).changed).toEqual([]);
  });

  it('is none for a notice', () => {
    const notice = problem({ code: 'pigeonhole-gone', kind: 'pigeonhole', name: 'acme/101', facts: {} });
    expect(judgeIncidents([], [notice], { at }).opened).toEqual([]);
  });
});

describe('a problem that pigeonholes of a workspace share', () => {
  const late = (id: number): Problem =>
    problem({
      code: 'reading-late',
      kind: 'pigeonhole',
      name: `acme/${id}`,
      facts: { streams: 2, dueAt: secondsAgo(400).toISOString() },
    });

  it('is one incident, which stays the same when a second pigeonhole has it', () => {
    const [first] = judgeIncidents([], [late(101)], { at: secondsAgo(300) }).opened;
    expect(first).toMatchObject({ kind: 'workspace', subject: 'acme' });
    const known = { ...open, ...first! };
    expect(judgeIncidents([known], [late(101), late(102)], { at })).toMatchObject({
      opened: [],
      changed: [{ number: 7, title: '4 lists of 2 events of workspace acme are late' }],
    });
  });
});
