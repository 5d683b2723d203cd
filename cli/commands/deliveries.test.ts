import type { FullAttemptView } from '../../api/deliveries.js';
import { attemptLine, attemptLines } from './deliveries.js';

const attempt: FullAttemptView = {
  number: 4711,
  sink: 'crm',
  workspace: 'acme',
  pigeonholeId: 101,
  sequence: 7,
  replay: 0,
  list: 'attendees',
  key: '11',
  name: { noun: 'an attendee', title: null, person: null, session: null, event: 'DevConf' },
  revision: 1,
  identity: true,
  try: 2,
  at: '2026-11-21T10:00:00.000Z',
  durationMs: 312,
  outcome: 'rejected',
  cause: 'http:422',
  words: null,
  detail: 'HTTP 422\u001b[2J',
  status: 422,
  requestId: 'req-7',
  hasContent: true,
  state: 'dead',
  reason: 'http:422',
  dueAt: null,
};

describe('pigeonpost deliveries', () => {
  it('shows an attempt in one line', () => {
    expect(attemptLine(attempt)).toBe(
      '#4711  2026-11-21T10:00:00.000Z  rejected  an attendee in “DevConf” (attendees:11 in acme/101)  try 2  HTTP 422  http:422  312 ms  request req-7',
    );
  });

  it('shows what was sent and answered, and nothing that a text could paint', () => {
    const content = {
      requests: [{ method: 'POST', address: 'https://crm.example/x', body: '{\n  "a": "\u001b[31m"\n}', cut: true }],
      calls: [
        {
          method: 'POST',
          address: 'https://crm.example/x',
          status: null,
          requestId: null,
          durationMs: 5,
          answer: null,
          shared: true,
        },
      ],
      furtherCalls: 2,
    };
    expect(attemptLines({ ...attempt, content }).slice(1)).toEqual([
      'sink crm; the delivery is now dead',
      'HTTP 422 [2J',
      '',
      '> POST https://crm.example/x',
      '>   {',
      '>     "a": " [31m"',
      '>   }',
      '>   …',
      '',
      '< no answer  POST https://crm.example/x  5 ms  carried other changes too',
      'and 2 more calls',
    ]);
  });

  it('says how to see the content, and when there is none', () => {
    expect(attemptLines(attempt).at(-1)).toBe('add --personal to see what was sent and answered');
    expect(attemptLines({ ...attempt, hasContent: false }).at(-1)).toBe('what was sent and answered is not stored');
    expect(attemptLines({ ...attempt, content: null }).at(-1)).toBe('what was sent and answered is not stored');
  });
});
