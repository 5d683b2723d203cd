import { type InteractionListName, interactionLists } from '../../base/lists.js';
import { answer, attendee, pollVote, qnaQuestion, question, rating, vote } from './items.js';
import type { Item } from './stage.js';

/** Ids of people, which occur nowhere by chance. An id identifies a person as a code does. */
export const people = {
  /** Refuses consent from the start. */
  refused: 880_001_001,
  /** Was never asked for consent. */
  notAsked: 880_002_002,
  /** Gives consent first and withdraws it later. */
  withdrawing: 880_003_003,
  /** Gives consent, but acts anonymously. */
  anonymous: 880_004_004,
  /** Acts under their name first; the session becomes anonymous later. */
  turning: 880_005_005,
} as const;
export type Person = keyof typeof people;
export const names = Object.keys(people) as Person[];

/** The lists of interactions. */
export { interactionLists as deedLists };

export const markerOf = (who: Person): string => `MARK-${people[who]}`;

/** Whether a text contains a marker or the id of a person. */
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

/** Builds a record whose fields are all markers. Interactions contain only its id and code. */
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

/** Builds a person's interactions, one in each list. Sessions 1 to 3 are not anonymous, 4 is. */
export function deeds(who: Person, number: number, hasTurned = false): [list: string, item: Item][] {
  const id = people[who];
  const isAnonymous = who === 'anonymous' || (who === 'turning' && hasTurned);
  const person = { id, anonymous: isAnonymous, attendeeCode: `${markerOf(who)}-code`, Name: `${markerOf(who)}-name` };
  const [qna, cloud] = who === 'anonymous' ? [4, 4] : who === 'turning' ? [3, 3] : [1, 2];
  const done: Readonly<Record<InteractionListName, Item>> = {
    'qna-questions': qnaQuestion(100 + number, person, qna),
    questions: question(100 + number, id, qna),
    votes: vote(900, id, qna),
    answer_ratings: rating(200 + number, 900, id, qna),
    answers: answer(300 + number, id, cloud),
    'poll-mcq-votes': pollVote(400 + number, person, qna),
    'poll-quiz-votes': pollVote(500 + number, person, qna),
  };
  return Object.entries(done);
}
