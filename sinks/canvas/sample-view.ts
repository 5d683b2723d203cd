import type { MappingView } from '../mapping/mapping-view.js';

/** What an expression is given that looks at nothing of it. */
export const sampleView: MappingView = {
  item: null,
  previous: null,
  attendee: null,
  session: null,
  pigeonhole: null,
  change: {
    id: '00000000-0000-5000-8000-000000000000',
    type: 'engagement.created',
    timestamp: '2026-01-01T00:00:00.000Z',
    workspace: '',
    pigeonholeId: 0,
    sessionId: null,
    list: 'engagement',
    key: '',
    revision: 1,
    sequence: 1,
    data: null,
  },
};
