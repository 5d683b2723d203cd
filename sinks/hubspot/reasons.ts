import {
  type Causes,
  commonReasons,
  contentRejected,
  mergedRecord,
  type Reasons,
  removeByHand,
  targetUnusable,
} from '../reasons.js';

export const hubspotReasons = {
  ...commonReasons('condition', 'no-record', 'no-person', 'unchanged', 'never-sent', 'kept'),
  'no-match': {
    short: 'no value to match by',
    sentence: 'it has no value that identifies the record',
    kind: 'missing-value',
    readBy: { keys: /^records\[\d+\]\.(?:properties|contact|email)/, listedIn: 'match' },
  },
  'no-email': {
    short: 'no e-mail address',
    sentence: 'it has no e-mail address, which the sink needs to find the record',
    kind: 'missing-value',
    readBy: { keys: /^records\[\d+\]\.email$/ },
  },
  'no-attendance': {
    short: 'no attendance',
    sentence: 'the mapping finds no attendance for it',
    kind: 'missing-value',
    readBy: { keys: /\.attendance$/ },
  },
  'no-text': {
    short: 'no text',
    sentence: 'the mapping finds no text for it',
    kind: 'missing-value',
    readBy: { keys: /\.hs_note_body$/ },
  },
  'not-registered': {
    short: 'never registered',
    sentence: 'there is no registration to cancel',
    kind: 'settled',
  },
  'done-before': {
    short: 'written already',
    sentence: 'an earlier attempt has written it',
    kind: 'settled',
  },
} as const satisfies Reasons;

export const hubspotCauses: Causes = {
  'hubspot:forget-by-hand': removeByHand,
  'hubspot:merged': mergedRecord,
  'hubspot:not-found': targetUnusable,
  'hubspot:cancel-not-confirmed': {
    meaning: 'HubSpot does not confirm that the registration was cancelled',
    help: 'cancel the registration by hand in the marketing event, then discard the dead letter',
  },
  'hubspot:list:*': targetUnusable,
  'hubspot:not-readable': {
    meaning: 'HubSpot does not show them to this key',
    help: 'add the scopes for reading to the service key (docs/sinks/hubspot.md), then audit again',
  },
  'hubspot:marketing-event:*': contentRejected,
  'hubspot:PROPERTY_DOESNT_EXIST*': {
    meaning: 'the account has no such property',
    help: 'create the property in HubSpot or correct its name, then redrive them',
  },
  'hubspot:*': contentRejected,
};
