import {
  type Causes,
  commonReasons,
  contentRejected,
  mergedRecord,
  type Reasons,
  removeByHand,
  severalMatches,
} from '../reasons.js';

export const dynamicsReasons = {
  ...commonReasons('condition', 'no-record', 'no-person', 'never-sent', 'kept'),
  'no-match': {
    short: 'no value to match by',
    sentence: 'it has no value that identifies the record',
    kind: 'missing-value',
    readBy: { keys: /^records\[\d+\]\.properties\./, listedIn: 'match' },
  },
} as const satisfies Reasons;

export const dynamicsCauses: Causes = {
  'forget-by-hand': removeByHand,
  'dynamics:merged': mergedRecord,
  'dynamics:ambiguous-match:*': severalMatches,
  'dynamics:not-readable': {
    meaning: 'Dynamics does not show them',
    help: 'let the application user read the table and all columns of "properties", then audit again',
  },
  'dynamics:*': contentRejected,
};
