const reasons: Readonly<Record<string, string>> = {
  'consent-refused': 'the person has refused consent',
  'consent-not-asked': 'the person was not asked for consent',
  'consent-not-known': 'it is not known whether the person consents',
  condition: 'left out by the condition of its mapping',
  'not-selected': 'of pigeonholes that no sync of this sink selects',
  'list-not-wanted': 'of a list that it is sent no more',
  'never-sent': 'there is nothing to take back: nothing of it was sent there',
  unchanged: 'the destination has it so already',
  kept: 'what was sent of it stays there, as its settings say',
  'no-match': 'nothing of it says whose record it is',
  'no-email': 'it has no e-mail address to be found by',
  'no-person': 'the person may not be named',
  observe: 'the sink only observes',
  erased: 'the person was forgotten, and this sink had received nothing of the item',
  'by-replay': 'a replay has delivered it',
  expired: 'its text was kept for its time, and dropped',
};

/** Why something was withheld, as a person says it. The code itself where there are no words for it. */
export function reasonText(reason: string): string {
  return reasons[reason] ?? reason;
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
      help: 'preview one to see it, correct the expression in pigeonpost.yaml, and apply the configuration: that sends them again',
    },
  },
  {
    matches: /^outcome-unknown$/,
    says: {
      meaning: 'the answer was lost and it could not be looked up whether the destination has them',
      help: 'check the destination: redrive only changes that are missing there, since others would be there twice',
    },
  },
  {
    matches: /^withdrawals-held$/,
    says: {
      meaning: 'so many people withdrew consent at once that removing them waits for a person',
      help: 'see that it is meant, then redrive them to have the removals carried out',
    },
  },
  {
    matches: /^attempts-exhausted$/,
    says: {
      meaning: 'every attempt at them failed while others passed',
      help: `read what the destination answered, fix the record or the destination, ${redriveThem}`,
    },
  },
  {
    matches: /forget-by-hand$/,
    says: {
      meaning: 'the destination cannot be asked to remove these',
      help: 'remove them there by hand; redriving does not help',
    },
  },
  {
    matches: /(not-found|gone|is_archived|not-published|assignment|no-permission|no-external-id)/i,
    says: {
      meaning: 'what they belong to is not there, is closed, or may not be used',
      help: `make it, open it or grant the permission at the destination, ${redriveThem}`,
    },
  },
  {
    matches: /(invalid|missing|too_long|not-storable|unsafe|http:4|duplicate|conflict)/i,
    says: {
      meaning: 'the destination does not take them as they are',
      help: `read what it answered, correct the record or the mapping, ${redriveThem}`,
    },
  },
];

/** Text for a cause that is not listed. */
const anyCause: CauseText = {
  meaning: 'the destination refused them',
  help: `read what it answered, fix what it names, ${redriveThem}`,
};

export function causeText(cause: string): CauseText {
  return causes.find(({ matches }) => matches.test(cause))?.says ?? anyCause;
}
