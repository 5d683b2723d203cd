import { answer, attendee, pollVote, qnaQuestion, question, rating, vote } from './items.js';
import type { Item } from './stage.js';

/** Numbers that stand nowhere by chance: the ids that name a person as well as a code does. */
export const people = {
  /** Has refused from the beginning. */
  refused: 880_001_001,
  /** Was never asked. */
  notAsked: 880_002_002,
  /** Agrees at first, and refuses later. */
  withdrawing: 880_003_003,
  /** Agrees, but not to be named in what they do. */
  anonymous: 880_004_004,
  /** Acts by name at first; the session turns anonymous later. */
  turning: 880_005_005,
} as const;
export type Person = keyof typeof people;
export const names = Object.keys(people) as Person[];

/** The seven lists of what people do. */
export const deedLists = [
  'questions',
  'votes',
  'answer_ratings',
  'answers',
  'poll-mcq-votes',
  'poll-quiz-votes',
  'qna-questions',
] as const;

export const markerOf = (who: Person): string => `MARK-${people[who]}`;

/** Whether a text holds a marker of theirs, or the id that names them. */
export function shows(text: string, who: Person): boolean {
  return holdsMarker(text, who) || text.includes(String(people[who]));
}

export function holdsMarker(text: string, who: Person): boolean {
  return text.toLowerCase().includes(markerOf(who).toLowerCase());
}

const consents: Readonly<Record<Person, unknown>> = {
  refused: { obtained: false },
  notAsked: null,
  withdrawing: { obtained: true, obtainedAt: '2026-11-21T08:00:00Z' },
  anonymous: { obtained: true, obtainedAt: '2026-11-21T08:00:00Z' },
  turning: { obtained: true, obtainedAt: '2026-11-21T08:00:00Z' },
};

/** Every field is a marker. The record of who agrees may be sent, so only its id and code are known to interactions. */
export function record(who: Person): Item {
  const mark = markerOf(who);
  return attendee(people[who], {
    registrantId: people[who] + 5,
    attendeeCode: `${mark}-code`,
    Name: `${mark}-name`,
    Email: `${mark.toLowerCase()}@example.com`,
    'Job title': `${mark}-title`,
    consent: consents[who],
  });
}

/** One person's interactions on the seven lists; sessions 1 to 3 are open, 4 is anonymous. */
export function deeds(who: Person, number: number, hasTurned = false): [list: string, item: Item][] {
  const id = people[who];
  const isAnonymous = who === 'anonymous' || (who === 'turning' && hasTurned);
  const person = { id, anonymous: isAnonymous, attendeeCode: `${markerOf(who)}-code`, Name: `${markerOf(who)}-name` };
  const [qna, cloud] = who === 'anonymous' ? [4, 4] : who === 'turning' ? [3, 3] : [1, 2];
  return [
    ['qna-questions', qnaQuestion(100 + number, person, qna)],
    ['questions', question(100 + number, id, qna)],
    ['votes', vote(900, id, qna)],
    ['answer_ratings', rating(200 + number, 900, id, qna)],
    ['answers', answer(300 + number, id, cloud)],
    ['poll-mcq-votes', pollVote(400 + number, person, qna)],
    ['poll-quiz-votes', pollVote(500 + number, person, qna)],
  ];
}
