/** Outcomes of an erasure at a place, in words. */
export const erasureOutcomeWords = {
  erased: 'erased',
  told: 'asked to erase',
  nothing: 'had nothing',
  waiting: 'has not answered yet',
  'by-hand': 'must be erased by hand',
} as const;

const places: Readonly<Record<string, string>> = {
  ledger: 'the ledger',
  imports: 'rows of imports',
  others: 'other people with the same e-mail address',
};

/** Returns the place of a receipt in words, such as `sink hooks, event acme/101`. Pure. */
export function placeOfReceipt(place: string): string {
  const known = places[place];
  if (known !== undefined) return known;
  const [, kind, name = '', event] = /^(import|service|sink|erasure):(\S+)(?: (.+))?$/.exec(place) ?? [];
  switch (kind) {
    case 'import':
      return `the file of import ${name}`;
    case 'service':
      return `the event service, workspace ${name}`;
    case 'sink':
      return event === undefined ? `sink ${name}` : `sink ${name}, event ${event}`;
    case 'erasure':
      return `the earlier erasure ${name}`;
    default:
      return place;
  }
}
