import type { ListName } from '../../base/lists.js';

/** The types of columns. A JSON value can be converted to each of them without loss. */
export type ColumnType = 'bigint' | 'boolean' | 'text' | 'timestamp with time zone' | 'date' | 'jsonb';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /**
   * Where the column's value comes from: a path in the item, the change envelope (`sessionId`), or all fields of the
   * item that have no column.
   */
  readonly from: readonly string[] | 'sessionId' | 'the-rest';
  /** Whether the column may contain personal data. It is then cleared when the item or its attendee is removed. */
  readonly personal: boolean;
  readonly comment: string;
}

/** The documented fields of a session, each with its path, its column's type and its comment. */
const sessionColumns: readonly (readonly [path: string, type: ColumnType, comment: string])[] = [
  ['id', 'bigint', 'The session_id of all other tables.'],
  ['name', 'text', 'Its name.'],
  ['type', 'text', 'qna, poll_word_cloud, and others.'],
  ['description', 'text', 'Its description.'],
  ['redirectAttendeesTo', 'text', 'Where attendees are redirected afterwards.'],
  ['location', 'text', 'Its location.'],
  ['startDate', 'timestamp with time zone', 'When it begins.'],
  ['endDate', 'timestamp with time zone', 'When it ends.'],
  ['createdAt', 'timestamp with time zone', 'When it was created, according to the service.'],
  ['sessionLabel', 'text', 'Its label.'],
  ['buttonText', 'text', 'Text of its button.'],
  ['anonymousResponses', 'boolean', 'Whether attendees may stay anonymous.'],
  ['questionFiltering', 'boolean', 'Whether questions wait for approval.'],
  ['comments', 'boolean', 'Whether attendees can comment on questions.'],
  ['commentFiltering', 'boolean', 'Whether comments wait for approval.'],
  ['answers', 'boolean', 'Whether questions can be answered.'],
  ['answerRatings', 'boolean', 'Whether answers can be rated.'],
  ['adminCollaboration', 'boolean', 'Whether several admins work in it.'],
  ['hideOtherAttendeesQuestions', 'boolean', 'Whether attendees see only their own questions.'],
  ['questionVotes', 'boolean', 'Whether questions can be voted on.'],
  ['questionsAvailableAfterEnd', 'boolean', 'Whether questions stay visible.'],
  ['tagsRequired', 'boolean', 'Whether a question needs a tag.'],
  ['logoPosition', 'text', 'The position of the logo.'],
  ['tags', 'text', 'Its tags.'],
  ['displayQuestionsBy', 'text', 'How questions are sorted.'],
  ['externalVideoReactions', 'boolean', 'Whether reactions are shown on a video.'],
];

export interface Table {
  readonly list: string;
  readonly name: string;
  readonly comment: string;
  /** The columns of this table only. ddl.ts has the columns that all tables share. */
  readonly columns: readonly Column[];
  /** The column with the attendee's id. If it has no value, the row is anonymous. */
  readonly person?: string;
}

type Options = { readonly personal?: true };

/**
 * Returns a column for a field of the item. The column has the name of the path: `answerRating.rate` becomes
 * `answer_rating_rate`. A repeated first word is left out.
 */
function column(
  path: string,
  type: ColumnType,
  comment: string,
  { personal = false }: { personal?: boolean } = {},
): Column {
  const words = path.replaceAll('.', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const name = words.replace(/^([a-z]+_)\1/, '$1'); // attendee.attendeeCode
  return { name, type, from: path.split('.'), personal, comment };
}

const id = (path: string, comment: string, options?: Options): Column => column(path, 'bigint', comment, options);
const text = (path: string, comment: string, options?: Options): Column => column(path, 'text', comment, options);
const at = (path: string, comment: string, options?: Options): Column =>
  column(path, 'timestamp with time zone', comment, options);
const personal = { personal: true } as const;

const session: Column = {
  name: 'session_id',
  type: 'bigint',
  from: 'sessionId',
  personal: false,
  comment: 'The session it belongs to: sessions.id.',
};
const person = (path: string): Column =>
  id(path, 'The attendee: attendees.id. Null if the row is anonymous.', personal);
const createdAt = at('createdAt', 'When it was created, according to the service.');
const profile: Column = {
  name: 'profile',
  type: 'jsonb',
  from: 'the-rest',
  personal: true,
  comment: "Profile fields, by the names that the event uses, such as profile->>'Email'.",
};
const optionVote = [
  id('question.id', 'The poll question.'),
  text('question.content', 'Text of the poll question at the last change of the vote that pigeonpost found.'),
  id('option.id', 'The option that was chosen.'),
  text('option.content', 'Text of the option at the last change of the vote that pigeonpost found.'),
];
const count = (path: string, comment: string): Column => column(path, 'bigint', comment);

/**
 * The tables, in the order in which they are created. The documented fields have columns; `raw` contains all others.
 * The service copies the names of sessions and the texts of questions into other items. Such a copy has a column only
 * if no other table contains the value.
 */
const definitions: Readonly<Record<ListName, Omit<Table, 'name' | 'list'>>> = {
  pigeonholes: {
    comment: 'The event spaces of a workspace. Their own pigeonhole_id is 0: join on id.',
    columns: [
      id('id', 'The pigeonhole_id of all other tables.'),
      text('name', 'Its name.'),
      text('description', 'Its welcome text.'),
      column('startDate', 'date', 'First day, in its time zone.'),
      column('endDate', 'date', 'Last day, in its time zone.'),
      text('status', 'new, upcoming, live or ended, as far as is known.'),
      text('timezone', 'IANA name of its time zone.'),
      column('attendeeProfiles', 'boolean', 'Whether attendees have profiles.'),
      column('registrants', 'boolean', 'Whether registrants can be loaded.'),
      column('attendeeCodeRequired', 'boolean', 'Whether attendees sign in with a code.'),
      count('expectedParticipants', 'The number of expected participants, if the service reports it.'),
    ],
  },
  subscriptions: {
    comment: 'The subscriptions of a workspace. Their pigeonhole_id is 0.',
    columns: [
      id('id', 'The subscription.'),
      text('name', 'Its name.'),
      at('startDate', 'When it begins.'),
      at('endDate', 'When it ends.'),
      text('timezone', 'IANA name of its time zone.'),
    ],
  },
  sessions: {
    comment: 'The parts of a pigeonhole: Q&As, polls, word clouds.',
    columns: sessionColumns.map(([path, type, comment]) => column(path, type, comment)),
  },
  attendees: {
    comment:
      'People who signed in. After a person withdraws consent, the row stays by default, and every column about the person is null.',
    columns: [
      id('id', 'The attendee_id of all other tables.', personal),
      id('registrantId', 'The registrant who signed in.', personal),
      text('attendeeCode', 'The code with which they signed in.', personal),
      at('signInTime', 'When they signed in.', personal),
      column('consent.obtained', 'boolean', 'Whether they consented; null: not asked, or not known.', personal),
      at('consent.obtainedAt', 'When they consented.', personal),
      column('linkedIn', 'jsonb', 'Their LinkedIn profile.', personal),
      column('twitter', 'jsonb', 'Their Twitter profile.', personal),
      profile,
    ],
    person: 'id',
  },
  questions: {
    comment: 'Questions from the audience, by session.',
    columns: [
      id('question.id', 'The question.'),
      text('question.content', 'What was asked.', personal),
      text('question.status', 'approved, as far as is known.'),
      session,
      person('attendeeId'),
      createdAt,
    ],
    person: 'attendee_id',
  },
  votes: {
    comment: 'Votes on questions, one row per vote.',
    columns: [id('question.id', 'The question: questions.question_id.'), session, person('attendeeId'), createdAt],
    person: 'attendee_id',
  },
  answer_ratings: {
    comment: 'Ratings of the answers to questions.',
    columns: [
      id('answerRating.id', 'The rating.'),
      count('answerRating.rate', 'The rating as a number.'),
      id('question.id', 'The question: questions.question_id.'),
      session,
      person('attendeeId'),
      createdAt,
    ],
    person: 'attendee_id',
  },
  answers: {
    comment: 'Answers to word clouds.',
    columns: [
      id('answer.id', 'The answer.'),
      text('answer.content', 'What was answered.', personal),
      text('answer.status', 'approved, as far as is known.'),
      session,
      person('attendeeId'),
      createdAt,
    ],
    person: 'attendee_id',
  },
  'poll-mcq-votes': {
    comment: 'Votes in multiple-choice polls.',
    columns: [id('id', 'The vote.'), ...optionVote, session, person('attendee.id'), createdAt],
    person: 'attendee_id',
  },
  'poll-quiz-votes': {
    comment: 'Votes in quizzes.',
    columns: [
      id('id', 'The vote.'),
      ...optionVote,
      count('timeTaken', 'The time that the attendee took, in the unit of the service.'),
      session,
      person('attendee.id'),
      text('attendee.attendeeCode', 'The code with which they signed in.', personal),
      createdAt,
    ],
    person: 'attendee_id',
  },
  'qna-questions': {
    comment: 'Questions of Q&A sessions as their attendees see them; the table questions contains the same questions.',
    columns: [
      id('id', 'The question: questions.question_id.'),
      text('content', 'What was asked.', personal),
      text('status', 'allowed, as far as is known.'),
      session,
      person('attendee.id'),
      text('attendee.attendeeCode', 'The code with which they signed in.', personal),
      createdAt,
    ],
    person: 'attendee_id',
  },
  engagement: {
    comment:
      'The interactions of each attendee, by session and in total (scope pigeonhole); anonymous interactions are not counted.',
    columns: [
      text('scope', 'session or pigeonhole.'),
      session,
      person('attendeeId'),
      count('interactions', 'The number of all interactions.'),
      count('asked', 'Questions asked.'),
      count('answered', 'Prompts answered.'),
      count('voted', 'Votes on questions.'),
      count('rated', 'Answers rated.'),
      count('responded', 'Answers to word clouds.'),
      count('offered', 'Prompts that were offered to them.'),
      column('evidence', 'jsonb', 'Ids of the interactions that were counted.', personal),
    ],
    person: 'attendee_id',
  },
  registrants: {
    comment: 'People whom an import registered, and whether they signed in.',
    columns: [
      text('attendeeCode', 'The code that they were given.', personal),
      id('registrantId', 'The registrant, once known.', personal),
      id('attendeeId', 'The attendee who signed in with the code: attendees.id.', personal),
      column('signedIn', 'boolean', 'Whether an attendee has signed in with the code.', personal),
      at('signedInAt', 'When they signed in; null: not yet.', personal),
      count('attendees', 'Attendees who have the code.'),
      text('consent', 'obtained, refused, not-asked or not-known.', personal),
      profile,
    ],
  },
};

export const tables: readonly Table[] = Object.entries(definitions).map(([list, definition]) => ({
  ...definition,
  list,
  name: list.replaceAll('-', '_'),
}));

export const tableOf: ReadonlyMap<string, Table> = new Map(tables.map((table) => [table.list, table]));
