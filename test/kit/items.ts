import type { Item } from './stage.js';

/** Builders of items as the service returns them. A test passes the relevant fields; the others are plausible. */

const at = '2026-11-21T08:00:00.000Z';

export const session = (id: number, more: Item = {}): Item => ({
  id,
  name: `Session ${id}`,
  type: 'qna',
  startDate: '2026-11-21T07:00:00+00:00',
  endDate: '2099-11-21T20:00:00+00:00',
  anonymousResponses: true,
  links: { admin: `https://admin.example.com/${id}` },
  ...more,
});

export const attendee = (id: number, more: Item = {}): Item => ({
  id,
  registrantId: id + 1000,
  attendeeCode: `code-${id}`,
  signInTime: at,
  consent: { obtained: true, obtainedAt: at },
  Name: `Person ${id}`,
  Email: `person-${id}@example.com`,
  ...more,
});

export const question = (id: number, attendeeId: number, sessionId: number, more: Item = {}): Item => ({
  attendeeId,
  createdAt: at,
  session: { id: sessionId, name: `Session ${sessionId}`, type: 'qna' },
  question: { id, content: `Question ${id}?`, status: 'approved' },
  ...more,
});

export const qnaQuestion = (
  id: number,
  who: { id: number; anonymous?: boolean },
  sessionId: number,
  more: Item = {},
): Item => ({
  id,
  content: `Question ${id}?`,
  status: 'allowed',
  createdAt: at,
  attendee: { attendeeCode: `code-${who.id}`, ...who },
  session: { id: sessionId, name: `Session ${sessionId}` },
  ...more,
});

export const vote = (questionId: number, attendeeId: number, sessionId: number, more: Item = {}): Item => ({
  attendeeId,
  createdAt: at,
  session: { id: sessionId, name: `Session ${sessionId}`, type: 'qna' },
  question: { id: questionId, content: `Question ${questionId}?`, status: 'approved' },
  ...more,
});

export const rating = (id: number, questionId: number, attendeeId: number, sessionId: number): Item => ({
  attendeeId,
  createdAt: at,
  session: { id: sessionId, name: `Session ${sessionId}`, type: 'qna' },
  question: { id: questionId, content: `Question ${questionId}?` },
  answerRating: { id, rate: 4 },
});

export const answer = (id: number, attendeeId: number, sessionId: number): Item => ({
  attendeeId,
  createdAt: at,
  session: { id: sessionId, name: `Session ${sessionId}`, type: 'poll_word_cloud' },
  answer: { id, content: `word-${id}`, status: 'approved' },
});

export const pollVote = (
  id: number,
  who: { id: number; anonymous?: boolean },
  sessionId: number,
  more: Item = {},
): Item => ({
  id,
  createdAt: at,
  attendee: who,
  session: { id: sessionId, name: `Session ${sessionId}` },
  question: { id: 70, content: 'Which?' },
  option: { id: 71, content: 'This' },
  ...more,
});
