/** Words for the notes on rows of a registrant file. Rows with a note are sent. */
const notes: Readonly<Record<string, string>> = {
  trimmed: 'white space around the value was removed',
  'apostrophe-removed': 'the apostrophe that protects the value from spreadsheets was removed',
  'similar-code':
    'the code differs from another one only in upper and lower case or the form of letters; the service may treat them as the same',
  'code-generated': 'a code was generated',
};

/** Returns what a note on a row says; its code if it is not known here, because a newer pigeonpost sent it. Pure. */
export function noteWords(code: string): string {
  return notes[code] ?? code;
}
