const words: Readonly<Record<string, string>> = {
  'consent-refused': 'consent refused',
  'consent-not-asked': 'consent not asked',
  'consent-not-known': 'consent not known',
  'list-not-wanted': 'a list that it is sent no more',
  condition: 'left out by its condition',
  'not-selected': 'pigeonholes that no sync of this sink selects',
};

/** Returns a reason of withholding in words. */
export function reasonWords(reason: string): string {
  return words[reason] ?? reason;
}
