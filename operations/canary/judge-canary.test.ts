import type { Settlement } from '../../delivering/send-batch.js';
import { type FlownCanary, judgeCanary, judgeLeftCanary } from './judge-canary.js';
import type { Withdrawal } from './canary-flight.js';

const delivered: Settlement = { kind: 'delivered', detail: 'HTTP 200, request 7' };
const withdrawn: Withdrawal = { kind: 'withdrawn', detail: 'HTTP 204' };
const none: Withdrawal = { kind: 'none' };

const flown = (more: Partial<FlownCanary> = {}): FlownCanary => ({
  sink: 'crm',
  type: 'hubspot',
  list: 'attendees',
  mark: 123,
  sent: delivered,
  withdrawal: withdrawn,
  traits: {},
  ...more,
});

describe('the line of a canary', () => {
  it('says what was sent, what was answered, that it was taken back, and what stays', () => {
    expect(judgeCanary(flown({ traits: { stays: 'a bin keeps it' } }))).toEqual({
      id: 'canary:crm',
      label: 'Canary through crm (hubspot)',
      state: 'ok',
      says: '"pigeonpost canary 123" (attendees) was sent (HTTP 200, request 7) and taken back (HTTP 204); a bin keeps it',
    });
  });

  it.each<[string, Partial<FlownCanary>, string, RegExp, RegExp | undefined]>([
    ['it made nothing', { withdrawal: none }, 'ok', /made nothing that could be taken back/, undefined],
    [
      'it could not be taken back yet',
      { withdrawal: { kind: 'waiting', detail: 'HTTP 503' } },
      'warning',
      /is not taken back yet: HTTP 503/,
      /tried again .* look there for 123/,
    ],
    [
      'it cannot be taken back',
      { withdrawal: { kind: 'left', detail: 'not-editable' } },
      'warning',
      /cannot be taken back: what was posted there can be neither edited nor deleted/,
      /^look there for 123 and remove it by hand$/,
    ],
    [
      'it was refused',
      { sent: { kind: 'rejected', cause: 'http:422', detail: 'HTTP 422' }, withdrawal: none },
      'failed',
      /was refused: HTTP 422$/,
      /fix|correct/,
    ],
    [
      'it was refused after a part was made',
      { sent: { kind: 'rejected', cause: 'http:422', detail: 'HTTP 422' } },
      'failed',
      /HTTP 422; what had arrived was taken back/,
      /fix|correct/,
    ],
    [
      'the destination knows no invented person',
      {
        sent: { kind: 'rejected', cause: 'student-not-found', detail: 'no such student' },
        withdrawal: none,
        traits: { refusesUnknown: ['student-not-found'] },
      },
      'warning',
      /nothing was written \(no such student\)/,
      undefined,
    ],
    [
      'it takes nothing',
      { sent: { kind: 'pause', cause: 'credential', detail: 'revoked' }, withdrawal: none },
      'failed',
      /takes nothing: revoked/,
      /fix|correct/,
    ],
    [
      'nobody answered',
      { sent: { kind: 'unknown', detail: 'no answer' } },
      'failed',
      /did not get through: no answer; what had arrived was taken back/,
      /fix|correct/,
    ],
    ['it got no turn', { sent: { kind: 'unsent' }, withdrawal: none }, 'unknown', /got no turn/, /in a minute/],
    [
      'the mapping fails',
      { sent: { kind: 'unplannable', cause: 'x', detail: 'no number' }, withdrawal: none },
      'failed',
      /mapping fails: no number/,
      /fix|correct/,
    ],
    [
      'the mapping makes nothing',
      { sent: { kind: 'nothing', reason: 'condition' }, withdrawal: none },
      'warning',
      /^nothing was sent: no condition/,
      undefined,
    ],
  ])('where %s, tells that', (_, more, state, says, todo) => {
    const line = judgeCanary(flown(more));
    expect([line.state, line.says, line.todo]).toEqual([
      state,
      expect.stringMatching(says),
      todo === undefined ? undefined : expect.stringMatching(todo),
    ]);
  });

  it('is there for one that an earlier process has left', () => {
    const canary = {
      number: 1,
      mark: 123,
      workspace: 'acme',
      pigeonholeId: 101,
      sink: 'crm',
      list: 'attendees',
      changeId: 'a',
      withdrawalId: 'b',
      begunAt: new Date(0),
      object: null,
      memory: {},
      detail: 'HTTP 503',
    };
    expect(judgeLeftCanary({ ...canary, state: 'standing' }, 'hubspot')).toMatchObject({
      state: 'warning',
      says: '"pigeonpost canary 123" was sent and may still be there: HTTP 503',
      todo: expect.stringContaining('tried again') as string,
    });
    expect(judgeLeftCanary({ ...canary, state: 'left' }, 'hubspot').todo).toContain('by hand');
  });
});
