const words: Readonly<Record<string, string>> = {
  obtained: 'given',
  refused: 'refused',
  'not-asked': 'not asked for',
  'not-known': 'not known: the event does not ask for it',
};

/** Returns the state of a person's consent in words; null: not known. Pure. */
export function consentWords(consent: string | null): string {
  return consent === null ? 'not known' : (words[consent] ?? consent);
}
