const words: Readonly<Record<string, string>> = {
  'consent-refused': 'consent refused',
  'consent-not-asked': 'consent not asked',
  'consent-not-known': 'consent not known',
  'list-not-wanted': 'a list that it is sent no more',
  condition: 'left out by its condition',
  'not-selected': 'pigeonholes that no sync of this sink selects',
  'no-match': 'no value to match by',
  'no-email': 'no e-mail address',
  'no-key': 'no key and no e-mail address to match by',
  'no-user': 'no user',
  'no-assignment': 'no course or assignment',
  'no-grade': 'no grade',
  'no-actor': 'no actor',
  'no-text': 'no text',
  'no-attendance': 'no attendance',
  unchanged: 'the destination has it already',
};

/** Returns a reason of withholding in words. */
export function reasonWords(reason: string): string {
  return words[reason] ?? reason;
}
