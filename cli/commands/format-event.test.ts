import type { EventObjectView, EventView } from '../../operations/provision-event.js';
import { formatEvent, questionOf } from './format-event.js';

const base = {
  kind: 'session',
  id: null,
  fields: {},
  passcode: null,
  differences: [],
  candidates: [],
  problems: [],
  requestId: null,
} as const;
const pigeonhole: EventObjectView = {
  ...base,
  key: 'pigeonhole',
  kind: 'pigeonhole',
  state: 'create',
  fields: { name: 'ACME Summit', startDate: '2026-11-21', endDate: '2026-11-22' },
};
const session = (key: string, facts: Partial<EventObjectView>): EventObjectView => ({
  ...base,
  key,
  state: 'create',
  fields: { name: 'Talk', type: 'qna', startDate: '2026-11-21T08:00:00Z', endDate: '2026-11-21T09:30:00Z' },
  ...facts,
});
const view = (objects: readonly EventObjectView[], facts: Partial<EventView> = {}): EventView => ({
  workspace: 'acme',
  event: 'summit',
  timezone: 'Europe/Berlin',
  subscription: null,
  objects,
  problems: [],
  warnings: [],
  hindrance: null,
  nextInMs: null,
  ...facts,
});

describe('the text of an event', () => {
  it('lists objects to create, with times in the time zone of the event', () => {
    const shown = view(
      [pigeonhole, session('opening', {}), session('words', { fields: { name: 'Words', type: 'break' } })],
      {
        subscription: { id: 7, name: 'Events' },
        warnings: ['event.yaml:9: it is odd'],
      },
    );
    expect(formatEvent(shown, 'plan')).toEqual([
      'event summit in workspace acme',
      '  pigeonhole  to be created: "ACME Summit", 2026-11-21 to 2026-11-22, Europe/Berlin, subscription "Events" (7)',
      '  opening     to be created: "Talk", qna, 2026-11-21 09:00 to 10:30',
      '  words       to be created: "Words", break',
      '3 to be created',
      'note: event.yaml:9: it is odd',
    ]);
    expect(questionOf(shown)).toBe('Create these 3?');
  });

  it('names the decisions of the operator, and the options for them', () => {
    const candidates = [
      {
        id: 5001,
        name: 'Talk',
        startDate: '2026-11-21T09:00:00+01:00',
        endDate: null,
        status: null,
        recordedFor: null,
      },
      {
        id: 5011,
        name: 'Talk',
        startDate: '2026-11-21',
        endDate: '2026-11-22',
        status: 'ended',
        recordedFor: 'spring/a',
      },
    ];
    expect(
      formatEvent(view([session('a', { state: 'undecided', candidates }), session('b', { state: 'gone' })]), 'plan'),
    ).toEqual([
      'event summit in workspace acme',
      '  a  similar to an existing object',
      '       5001 "Talk", 2026-11-21 09:00',
      '       5011 "Talk", 2026-11-21 to 2026-11-22, ended, created or used as spring/a',
      '       to use an existing one, add --use a=5001; to create another, add --new a',
      '  b  was created earlier and then deleted in the service',
      '       to create it again, add --new b',
      '2 for you to decide',
    ]);
  });

  it('lists the result of each object', () => {
    const objects = [
      { ...pigeonhole, state: 'created', id: 113, passcode: 'ABC123' } as const,
      session('a', { state: 'refused', problems: ['event.yaml:9: sessions[0].type: is wrong'], requestId: 'r-1' }),
      session('b', {
        state: 'exists',
        id: 5,
        differences: ['event.yaml:10: sessions[1].location: is "X" here and "Y" in the service'],
      }),
      session('c', { state: 'unknown' }),
      session('d', { state: 'held' }),
      session('e', {}),
    ];
    expect(formatEvent(view(objects), 'end')).toEqual([
      'event summit in workspace acme',
      '  pigeonhole  created, id 113, passcode ABC123',
      '  a           refused by the service (request r-1)',
      '                event.yaml:9: sessions[0].type: is wrong',
      '  b           exists, id 5',
      '                event.yaml:10: sessions[1].location: is "X" here and "Y" in the service',
      "                the service's API cannot change it: edit it in the service's dashboard, or correct the file",
      '  c           sent, but the answer was lost: pigeonpost looks the object up before it sends anything again',
      '  d           waits for its pigeonhole',
      '  e           not created: "Talk", qna, 2026-11-21 09:00 to 10:30',
      '1 created, 1 not created, 1 already there, 1 refused, 1 to look up, 1 waiting for the pigeonhole',
    ]);
  });

  it('contains no control characters', () => {
    const lines = formatEvent(view([session('a', { fields: { name: 'Talk\u001b[2J\n', type: 'qna' } })]), 'plan');
    expect(lines.join('')).not.toMatch(/\p{Cc}/u);
  });
});
