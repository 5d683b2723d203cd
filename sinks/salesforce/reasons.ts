import {
  type Causes,
  commonReasons,
  contentRejected,
  mergedRecord,
  type Reasons,
  removeByHand,
  severalMatches,
  targetUnusable,
} from '../reasons.js';

export const salesforceReasons = {
  ...commonReasons('condition', 'no-record', 'no-person', 'never-sent', 'kept'),
  'no-key': {
    short: 'no key and no e-mail address to match by',
    sentence: 'it has no key and no e-mail address, and the sink needs one of them to find the record',
    kind: 'missing-value',
    readBy: { keys: /^records\[\d+\]\.(?:externalId|email$|properties\.Email$)/ },
  },
} as const satisfies Reasons;

export const salesforceCauses: Causes = {
  'forget-by-hand': removeByHand,
  'salesforce:merged': mergedRecord,
  'salesforce:campaign-status-missing': targetUnusable,
  'salesforce:no-external-id': targetUnusable,
  'salesforce:lookup:*': targetUnusable,
  'salesforce:INSUFFICIENT_ACCESS*': targetUnusable,
  'salesforce:not-readable': {
    meaning: 'Salesforce does not show them to the user',
    help: 'let the user read the object and the mapped fields, then audit again',
  },
  'salesforce:ambiguous-match:*': severalMatches,
  'salesforce:ambiguous-lookup:*': {
    meaning: 'several records in Salesforce match the value of a lookup',
    help: 'make the field of the lookup unique in Salesforce, then redrive them',
  },
  'salesforce:INVALID_FIELD:*': {
    meaning: 'the object in Salesforce has no such field',
    help: 'create the field, let the user see it, or correct its name, then redrive them',
  },
  'salesforce:*': contentRejected,
};
