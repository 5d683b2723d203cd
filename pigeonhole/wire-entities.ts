/**
 * Wire shapes of what an event consists of: pigeonholes, subscriptions, sessions, attendees. Permissive on purpose:
 * unknown fields pass, enumerations are strings, and all but the id may be missing or null, for the specification
 * shows single observations. A shape is checked and then the item is used as it came, so nothing is lost: `z.object`
 * leaves unknown fields out of its own result alone, and takes a third of the time of `z.looseObject`.
 * Source: docs/service-contract.md, "Shapes".
 */
import { z } from 'zod';

const text = z.string().nullish();
const flag = z.boolean().nullish();
const integer = z.int().nullish();
/** Related links. Some open admin and moderator pages for anyone who has them: credentials, not data. */
const links = z.object({}).nullish();

/** Status: observed new, upcoming, live, ended; `ended` can be left again. */
export const pigeonholeSchema = z.object({
  id: z.int(),
  name: text,
  description: text,
  passcode: text,
  startDate: text,
  endDate: text,
  status: text,
  timezone: text,
  attendeeProfiles: flag,
  registrants: flag,
  attendeeCodeRequired: flag,
  expectedParticipants: integer,
  links,
});

export const subscriptionSchema = z.object({
  id: z.int(),
  name: text,
  startDate: text,
  endDate: text,
  timezone: text,
});

/** Only the fields that something decides by are named; the rest of a session passes through. */
export const sessionSchema = z.object({
  id: z.int(),
  name: text,
  type: text,
  description: text,
  location: text,
  startDate: text,
  endDate: text,
  createdAt: text,
  parentSessionId: integer,
  anonymousResponses: flag,
  questionFiltering: flag,
  answers: flag,
  answerRatings: flag,
  questionVotes: flag,
  links,
});

/** Profile fields stand beside these, under the names that the pigeonhole's owner gave them. */
export const attendeeSchema = z.object({
  id: z.int(),
  registrantId: integer,
  attendeeCode: text,
  signInTime: text,
  consent: z.object({ obtained: flag, obtainedAt: text }).nullish(),
  linkedIn: z.object({ url: text, firstName: text, lastName: text, profileImageUrl: text }).nullish(),
  twitter: z.object({ screenName: text, profileImageUrl: text }).nullish(),
});

export type Pigeonhole = z.infer<typeof pigeonholeSchema>;
export type Subscription = z.infer<typeof subscriptionSchema>;
export type Session = z.infer<typeof sessionSchema>;
export type Attendee = z.infer<typeof attendeeSchema>;

/** Session types seen so far, in the specification (the first two) and in an unofficial SDK; others may come. */
export const knownSessionTypes = [
  'qna',
  'poll_word_cloud',
  'poll_multiple_choice',
  'poll_quiz',
  'poll_assessment',
  'poll_open_ended',
  'survey',
  'break',
  'regular',
  'chat',
] as const;
