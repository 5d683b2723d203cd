import { type Causes, commonReasons, contentRejected, refused, type Reasons, removeByHand } from '../reasons.js';

export const httpReasons = {
  ...commonReasons('condition', 'no-record', 'unchanged', 'never-sent', 'nothing-made', 'forget-by-hand'),
  'no-value': {
    short: 'no value for a required property',
    sentence: 'it has no value for a property that the record requires',
    kind: 'missing-value',
    readBy: { keys: /^records\[\d+\]\.properties\./, listedIn: 'requires' },
  },
  'not-created': {
    short: 'no request for new items',
    sentence: 'the record has no request for new items',
    kind: 'settled',
  },
  'not-updated': {
    short: 'no request for changed items',
    sentence: 'the record has no request for changed items',
    kind: 'settled',
  },
  'no-delete-request': {
    short: 'no request for removals',
    sentence: 'the record has no request for removals',
    kind: 'settled',
    help: 'add "delete" or "forget" to the record to let pigeonpost remove people',
  },
  'not-ours': {
    short: 'record of another system',
    sentence: 'the sink found the record, and deletes only records that it created',
    kind: 'settled',
  },
  'id-not-read': {
    short: 'id not known',
    sentence: 'the removal needs the id of the record, and no response contained it',
    kind: 'settled',
    help: 'let "idFrom" read the id of new records',
  },
} as const satisfies Reasons;

export type HttpReason = keyof typeof httpReasons;

/** The cause of the dead letter if an attendee must be forgotten, but the configuration has no request for that. */
export const cannotForget = 'cannot-forget';

export const httpCauses: Causes = {
  [cannotForget]: removeByHand,
  'too-large': {
    meaning: 'they are larger than the destination accepts',
    help: 'shorten the values with $truncate or map fewer of them, and apply the configuration, which sends them again',
  },
  'results-unclear': {
    meaning: 'the expression "results" returned no outcome for them',
    help: 'correct "results", and apply the configuration, which sends them again',
  },
  'http:not-readable': {
    meaning: 'the receiver does not answer "find" for them',
    help: 'correct "find" and its "holds", then audit again',
  },
  'http:*': contentRejected,
  '*': refused, // a code that `accept` or `results` read from the receiver's answer
};
