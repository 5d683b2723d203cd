import type { Change } from './change.js';

/** Returns a change for tests that are about one or two of its fields. */
export function sampleChange(fields: Partial<Change> = {}): Change {
  return {
    id: '4f1c1e0a-6d1b-5a57-9d4e-0a8c3f1f6b21',
    type: 'questions.created',
    timestamp: '2026-11-21T09:30:00.000Z',
    workspace: 'acme',
    pigeonholeId: 101,
    sessionId: 5001,
    list: 'questions',
    key: '9001',
    revision: 1,
    sequence: 1234,
    data: { question: { id: 9001, content: 'When is lunch?' } },
    ...fields,
  };
}
