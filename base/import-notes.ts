/** Words for the notes on rows of a registrant file. Rows with a note are sent. */
const notes: Readonly<Record<string, string>> = {
  trimmed: 'white space around the value was removed',
  'apostrophe-removed': 'the apostrophe that protects the value from spreadsheets was removed',
  'similar-code':
    'the code differs from another one only in upper and lower case or the form of letters; the service may treat them as the same',
  'invisible-removed': 'characters that cannot be seen were removed',
  'formula-removed': 'the formula that protects the value from spreadsheets was removed',
  'decimals-removed': 'the decimals .0 that a spreadsheet or program had added were removed',
  'hard-to-type':
    'the code has characters that most keyboards lack, such as a long dash or a letter of another alphabet; people may not be able to enter it',
  'decimal-code': 'the code is a number with decimals, which a spreadsheet has probably written',
  'short-code':
    'the code is shorter than others that start with 0; a spreadsheet has probably removed its leading zeros',
  'html-codes': 'the value has HTML codes such as &amp; and is sent with them',
  'cells-missing': 'the last cells of the row are missing and were read as empty',
  'quotes-removed': 'quotation marks around the value were removed',
  'hidden-row': 'the row is hidden in the spreadsheet',
  'filtered-row': 'a filter of the spreadsheet hides the row',
  'cancelled-row': 'the file marks the row as cancelled or refunded',
  'code-generated': 'a code was generated',
};

/** Returns what a note on a row says; its code if it is not known here, because a newer pigeonpost sent it. Pure. */
export function noteWords(code: string): string {
  return notes[code] ?? code;
}
