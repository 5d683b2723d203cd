import { z } from 'zod';
import { day, identifier, name, nonEmptyText, text } from '../values.js';
import { isTimezone } from '../../base/zoned-instant.js';

/**
 * The schema of event files for `pigeonpost apply`. Fields have the service's own names (event-engagement-api.md,
 * "Pigeonhole" and "Session"); docs/provisioning.md explains them. `id` names an object in the file and is never sent.
 */

const words = () => z.string({ error: 'allowed: a text' });
const flag = () => z.boolean({ error: 'allowed: true or false' });

/** Further fields, which are sent as written. The service ignores fields that it does not know. */
const more = () => z.record(z.string(), z.unknown(), { error: 'allowed: a group of further fields' }).prefault({});

/** The form of a time: local in the pigeonhole's time zone, or with `Z` or an offset. */
export const momentForm = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(Z|[+-]\d{2}:\d{2})?$/;

const moment = () =>
  text('a time such as 2026-11-21T09:00, or with an offset such as 2026-11-21T09:00+08:00', (found) => {
    const [, date, minutes, seconds = ':00', offset = 'Z'] = momentForm.exec(found) ?? [];
    const read = Date.parse(`${date}T${minutes}${seconds}Z`);
    // JavaScript reads 30 February as 2 March, and 24:00 as the next day
    if (Number.isNaN(read) || new Date(read).toISOString().slice(0, 16) !== `${date}T${minutes}`) return undefined;
    return Number.isNaN(Date.parse(`${date}T${minutes}${seconds}${offset}`)) ? undefined : found;
  });

export const pigeonholeFileSchema = z.strictObject(
  {
    name: nonEmptyText(),
    startDate: day(),
    endDate: day(),
    timezone: text('an IANA time zone such as Europe/Berlin', (found) => (isTimezone(found) ? found : undefined)),
    subscription: z
      .union([identifier(), nonEmptyText('the name or the id of a subscription')], {
        error: 'allowed: the name or the id of a subscription',
      })
      .optional(),
    description: words().optional(),
    attendeeProfiles: flag().optional(),
    registrants: flag().optional(),
    attendeeCodeRequired: flag().optional(),
    more: more(),
  },
  {
    error: ({ code }) =>
      code === 'invalid_type' ? 'allowed: a group with name, startDate, endDate, timezone' : undefined,
  },
);

export const sessionFileSchema = z.strictObject(
  {
    id: name().refine((id) => id !== 'pigeonhole', {
      error: '"pigeonhole" is what the pigeonhole itself is called; choose another id',
    }),
    name: nonEmptyText(),
    type: text('the type of a session such as qna or poll_word_cloud', (found) =>
      /^[a-z][a-z0-9_]*$/.test(found) ? found : undefined,
    ),
    startDate: moment().optional(),
    endDate: moment().optional(),
    description: words().optional(),
    location: words().optional(),
    sessionLabel: words().optional(),
    buttonText: words().optional(),
    tags: words().optional(),
    redirectAttendeesTo: words().optional(),
    logoPosition: words().optional(),
    displayQuestionsBy: words().optional(),
    anonymousResponses: flag().optional(),
    questionFiltering: flag().optional(),
    comments: flag().optional(),
    commentFiltering: flag().optional(),
    answers: flag().optional(),
    answerRatings: flag().optional(),
    adminCollaboration: flag().optional(),
    hideOtherAttendeesQuestions: flag().optional(),
    questionVotes: flag().optional(),
    questionsAvailableAfterEnd: flag().optional(),
    tagsRequired: flag().optional(),
    externalVideoReactions: flag().optional(),
    more: more(),
  },
  { error: ({ code }) => (code === 'invalid_type' ? 'allowed: a group with id, name, type' : undefined) },
);

export const eventFileSchema = z.strictObject(
  {
    id: name(),
    workspace: name().optional(),
    pigeonhole: pigeonholeFileSchema,
    sessions: z.array(sessionFileSchema, { error: 'allowed: a list of sessions' }).prefault([]),
  },
  {
    error: ({ code }) =>
      code === 'invalid_type' ? 'allowed: a group of keys such as id, pigeonhole, sessions' : undefined,
  },
);
