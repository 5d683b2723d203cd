import type { Statement } from './statement.js';

/** Returns a statement in which everything is accounted for. */
export function statementOf(more: Partial<Statement> = {}): Statement {
  const outcomes = { delivered: 100, withheld: 20, refused: 0, waiting: 0, unsent: 0 };
  return {
    format: 'pigeonpost statement 1',
    number: 7,
    instance: '8b0c6f3e-5d5b-4c0f-9a76-f1c7d2b3e410',
    software: 'pigeonpost 0.1.0',
    event: {
      workspace: 'acme',
      id: 101,
      name: 'Nordic Research Days',
      status: 'ended',
      firstDay: '2026-11-20',
      lastDay: '2026-11-21',
      timezone: 'Europe/Oslo',
    },
    requestedAt: '2026-11-22T08:00:00.000Z',
    completedAt: '2026-11-22T08:01:10.000Z',
    agrees: true,
    open: [],
    source: {
      shown: 120,
      held: 120,
      lists: [
        {
          list: 'attendees',
          label: 'Attendees',
          shown: 120,
          held: 120,
          differences: [],
          readFrom: '2026-11-22T08:00:01.000Z',
          readUntil: '2026-11-22T08:00:09.000Z',
          sessions: [],
        },
      ],
    },
    sessions: [],
    destinations: [
      {
        name: 'crm',
        type: 'hubspot',
        state: 'working',
        lists: [
          {
            list: 'attendees',
            label: 'Attendees',
            items: 120,
            ...outcomes,
            reasons: [
              {
                outcome: 'withheld',
                reason: 'consent-refused',
                text: 'the person refused consent',
                items: 20,
                open: false,
              },
            ],
            removed: { items: 0, delivered: 0, withheld: 0, refused: 0, waiting: 0, unsent: 0 },
          },
        ],
        parity: null,
      },
    ],
    coverage: {
      from: '2026-11-10T08:00:00.000Z',
      until: '2026-11-22T08:01:10.000Z',
      interruptions: [],
      seconds: 0,
      readAfterwards: true,
    },
    ...more,
  };
}
