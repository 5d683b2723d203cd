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
  erased: 'the person was forgotten, and this sink had been told nothing of it',
  'by-replay': 'a replay has delivered it',
  expired: 'its text was kept for its time, and dropped',
};

/** Why something was withheld, as a person says it. The code itself where there are no words for it. */
export function reasonInWords(reason: string): string {
  return reasons[reason] ?? reason;
}

/** What a cause of dead letters means, and what to do. */
export interface CauseInWords {
  readonly meaning: string;
  readonly help: string;
}

const redriveThem = 'then redrive them';

const causes: readonly { readonly matches: RegExp; readonly says: CauseInWords }[] = [
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
      help: 'look at the destination: redrive only what is not there, since what is would be there twice',
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
      help: `look at what the destination answered, mend the record or the destination, ${redriveThem}`,
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
      help: `look at what it answered, correct the record or the mapping, ${redriveThem}`,
    },
  },
];

/** Of a cause that has no words of its own: those that are true of every dead letter. */
const anyCause: CauseInWords = {
  meaning: 'the destination refused them',
  help: `look at what it answered, mend what it names, ${redriveThem}`,
};

export function causeInWords(cause: string): CauseInWords {
  return causes.find(({ matches }) => matches.test(cause))?.says ?? anyCause;
}
