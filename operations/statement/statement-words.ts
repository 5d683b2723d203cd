import type { ListName } from '../../base/lists.js';
import type { InterruptionCause } from './statement.js';

/*
 * The words of statements. Their readers know the event but not pigeonpost, so no text uses its vocabulary.
 */

export const listLabels: Readonly<Record<ListName, string>> = {
  sessions: 'Sessions',
  attendees: 'Attendees',
  'qna-questions': 'Questions (Q&A list)',
  questions: 'Questions (general list)',
  votes: 'Votes for questions',
  answers: 'Word cloud answers',
  answer_ratings: 'Ratings of answers',
  'poll-mcq-votes': 'Poll votes',
  'poll-quiz-votes': 'Quiz answers',
  pigeonholes: 'Events',
  subscriptions: 'Subscriptions',
  registrants: 'Registrants from imports',
  engagement: 'Activity of each attendee',
};

interface ReasonWords {
  readonly text: string;
  /** The action that helps; null: none is needed. */
  readonly todo: string | null;
}

/** Reasons why the event service and pigeonpost do not have the same items of a list. */
export const differenceWords = {
  erased: { text: 'of people whose data was erased at their request, and which pigeonpost may not keep', todo: null },
  unusable: {
    text: 'without an ID by which they could be distinguished',
    todo: 'Ask the vendor of the event service why these entries have no usable ID.',
  },
  'source-gone': { text: 'of a session that was deleted in the event service; pigeonpost keeps them', todo: null },
  'deletion-held': {
    text: 'no longer shown by the event service; an operator has to decide whether they were deleted',
    todo: 'Run "pigeonpost deletions list", then confirm or reject the deletions.',
  },
  'deletion-rejected': {
    text: 'no longer shown by the event service; an operator decided to keep them',
    todo: null,
  },
  'deletion-unconfirmed': {
    text: 'not shown by the event service at the last reading; pigeonpost is still checking whether they were deleted',
    todo: 'Make another statement later; in a list without an order, the check takes a day.',
  },
  'new-since': {
    text: 'that arrived while this statement was being made',
    todo: 'Make another statement when the event is over.',
  },
  'moved-since': {
    text: 'that moved within their list while this statement was being made',
    todo: 'Make another statement when the event is over.',
  },
  'removed-since': {
    text: 'that were removed while this statement was being made',
    todo: 'Make another statement when the event is over.',
  },
  'not-read': {
    text: 'in a list that could not be read again for this statement',
    todo: 'Run "pigeonpost status" to see why, then make another statement.',
  },
  'not-needed': { text: 'in a list that is no longer read, because no destination needs it', todo: null },
  unexplained: {
    text: 'without a known reason',
    todo: 'Keep this statement, and report it together with the result of "pigeonpost doctor".',
  },
} as const satisfies Readonly<Record<string, ReasonWords>>;
export type DifferenceReason = keyof typeof differenceWords;

/** Reasons of items that were never meant for a destination. */
export const unsentWords = {
  before: 'found before this destination received this list, and its settings send nothing older',
  expired: 'removed from pigeonpost at the end of the agreed storage time, before they were sent',
  observe: 'not sent, because this destination is set to observe only',
} as const;

/** Differences that a comparison with a destination finds and nothing explains. */
export const parityWords = {
  missing: 'are not at the destination any more, although it had accepted them',
  changed: 'were changed there by other people or programs',
  stale: 'are there in an earlier version',
  extra: 'are still there although they were deleted or withdrawn, or are there twice',
} as const;

export const interruptionWords: Readonly<Record<InterruptionCause, string>> = {
  stopped: 'pigeonpost was not running, or its store did not answer',
  silent: 'the event service did not answer',
  quota: 'the permitted number of requests to the event service was used up',
  throttled: 'the event service asked pigeonpost to wait',
  credential: 'the event service did not accept the access key',
  paused: 'an operator had paused the reading',
  late: 'at least one list was read later than planned',
};

/** Reason of items that a destination removed again, because the person withdrew consent. */
export const withdrawnReason = 'removed-after-withdrawal';

/** Reasons why items were withheld, for readers who do not know pigeonpost. Other reasons have the text of their sink. */
export const withheldWords: Readonly<Record<string, string>> = {
  'consent-refused': 'people who did not agree that their data is passed on',
  'consent-not-asked': 'people who were not asked whether their data may be passed on',
  'consent-not-known': 'people of whom the event service does not say whether they agreed',
  condition: 'left out by the settings of this destination',
  'no-record': 'left out by the settings of this destination',
  'no-person': 'would show who a person is, which is not allowed here',
  kept: 'the settings of this destination keep what it received before',
  'list-not-wanted': 'this destination no longer receives the list',
  [withdrawnReason]: 'people who withdrew their agreement later; their data was removed from the destination',
};

/** Reasons why a sink sent nothing because the destination has the item already. It counts as delivered. */
export const upToDateReasons: ReadonlySet<string> = new Set(['unchanged', 'same-grade', 'done-before', 'by-replay']);

/** A note about lists that contain the same items. */
export const sameQuestions = 'Both lists of questions contain the same questions.';
