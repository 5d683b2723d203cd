const reasons: Readonly<Record<string, string>> = {
  'consent-refused': 'the person refused consent',
  'consent-not-asked': 'the person was not asked for consent',
  'consent-not-known': 'the service does not say whether the person gave consent',
  condition: 'the condition of the mapping ("when") excludes it',
  'not-selected': 'no sync of this sink selects its pigeonhole',
  'list-not-wanted': 'the sink no longer receives its list',
  'never-sent': 'there is nothing to remove: the sink never received the item',
  unchanged: 'the destination already has this content',
  kept: 'the settings of the sink keep what it received',
  'no-match': 'it has no value that identifies the record',
  'no-email': 'it has no e-mail address, which the sink needs to find the record',
  'no-person': 'the identity of the person must not be sent',
  observe: 'the sink only observes ("mode: observe")',
  erased: 'the person was forgotten before the sink received the item',
  'by-replay': 'a replay delivered it',
  expired: 'the retention period of its content has ended',
};

/** Returns a reason for withholding in words, or its code if there are none. */
export function reasonText(reason: string): string {
  return reasons[reason] ?? reason;
}

const outcomes: Readonly<Record<string, string>> = {
  delivered: 'delivered',
  withheld: 'withheld',
  superseded: 'superseded by a later revision',
  dead: 'dead letter',
  retry: 'failed, will be retried',
  waiting: 'queued',
  sending: 'being sent, outcome unknown',
  behind: 'not processed yet',
  passed: 'not sent to this sink under the configuration of that time',
};

/**
 * Returns the state of a delivery in words.
 * @param others the other deliveries of the same revision to the same sink
 */
export function outcomeText(
  { state, reason, replay }: { readonly state: string; readonly reason: string | null; readonly replay: string | null },
  others: readonly { readonly state: string; readonly reason: string | null }[] = [],
): string {
  if (state === 'delivered' && reason === 'by-replay') return 'not delivered at first, but later by a replay';
  const outcome = outcomes[state] ?? state;
  if (replay === null) return outcome;
  const isAgain = others.some((other) => other.state === 'delivered' && other.reason !== 'by-replay');
  return state === 'delivered' && isAgain ? 'delivered again by a replay' : `${outcome} by a replay`;
}

/** Meaning of a cause of dead letters, and the action that helps. */
export interface CauseText {
  readonly meaning: string;
  readonly help: string;
}

const redriveThem = 'then redrive them';

const causes: readonly { readonly matches: RegExp; readonly says: CauseText }[] = [
  {
    matches: /^mapping/,
    says: {
      meaning: 'an expression of the mapping failed on these items',
      help: 'preview one of the items, correct the expression in pigeonpost.yaml, and apply the configuration, which sends them again',
    },
  },
  {
    matches: /^outcome-unknown$/,
    says: {
      meaning: 'the answer was lost, and pigeonpost could not find out whether the destination has them',
      help: 'check the destination, and redrive only the changes that are missing there: others would arrive twice',
    },
  },
  {
    matches: /^withdrawals-held$/,
    says: {
      meaning:
        'an unusually large number of people withdrew consent at the same time, so their removal waits for a decision',
      help: 'check that the withdrawals are intended, then redrive them to remove the people from the destination',
    },
  },
  {
    matches: /^attempts-exhausted$/,
    says: {
      meaning: 'every attempt failed, while other changes were accepted',
      help: `read the answer of the destination, fix the record or the destination, ${redriveThem}`,
    },
  },
  {
    matches: /forget-by-hand$/,
    says: {
      meaning: 'the destination offers no way to remove these records automatically',
      help: 'remove them by hand at the destination; a redrive does not help',
    },
  },
  {
    matches: /(not-found|gone|is_archived|not-published|assignment|no-permission|no-external-id)/i,
    says: {
      meaning: 'the object that they belong to does not exist, is closed, or is not accessible',
      help: `create it, open it or grant the permission at the destination, ${redriveThem}`,
    },
  },
  {
    matches: /(invalid|missing|too_long|not-storable|unsafe|http:4|duplicate|conflict)/i,
    says: {
      meaning: 'the destination rejects their content',
      help: `read the answer of the destination, correct the record or the mapping, ${redriveThem}`,
    },
  },
];

/** Text for a cause that is not listed. */
const anyCause: CauseText = {
  meaning: 'the destination refused them',
  help: `read the answer of the destination, fix the cause, ${redriveThem}`,
};

export function causeText(cause: string): CauseText {
  return causes.find(({ matches }) => matches.test(cause))?.says ?? anyCause;
}
