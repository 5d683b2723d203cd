import {
  type Causes,
  commonReasons,
  contentRejected,
  type Reason,
  type Reasons,
  removalReasons,
  removeByHand,
} from '../reasons.js';

/** The item itself lacks a field that every such item has by the service's contract, so no mapping can supply it. */
function incomplete(what: string): Reason {
  return { short: what, sentence: `the item has ${what}`, kind: 'settled' };
}

export const xapiReasons = {
  ...removalReasons,
  ...commonReasons('condition', 'unchanged'),
  'no-actor': {
    short: 'no actor',
    sentence: 'the mapping finds no actor for it',
    kind: 'missing-value',
    readBy: { keys: /^actor\.(?:name|mbox|mboxSha1sum)$/ },
    nothingLeft: true, // a removal has this reason only if no statement was stored
  },
  'no-activity': {
    short: 'no activity',
    sentence: 'the mapping finds no activity for it',
    kind: 'missing-value',
    readBy: { keys: /\.activity$/ },
  },
  'not-said': {
    short: 'no statement about such items',
    sentence: 'the settings of the sink name no statement about such items',
    kind: 'settled',
    nothingLeft: true,
  },
  'not-signed-in': { short: 'not signed in', sentence: 'the person has not signed in', kind: 'settled' },
  'no-question': incomplete('no question'),
  'no-session': incomplete('no session'),
  'no-answer': incomplete('no text of an answer'),
  'no-rate': incomplete('no rate'),
  'no-option': incomplete('no option'),
} as const satisfies Reasons;

export type XapiReason = keyof typeof xapiReasons;

export const xapiCauses: Causes = {
  'xapi:forget-by-hand': removeByHand,
  conflict: {
    meaning: 'the destination has something else under the same id',
    help: 'find out which other client writes these ids, and remove what it wrote, then redrive them',
  },
  'conflict-unread': {
    meaning: 'the destination has something under the same id that the credentials may not read',
    help: 'allow the credentials to read statements, then redrive them',
  },
  'statement-unreadable': {
    meaning: 'the credentials may not read statements',
    help: 'allow the credentials to read statements, and audit the sink again',
  },
  voided: {
    meaning: 'another client voided the statement',
    help: 'nothing restores a voided statement: leave them, or replay the items under another "activities" address',
  },
  'http:*': contentRejected,
};
