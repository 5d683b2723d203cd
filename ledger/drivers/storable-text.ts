/**
 * A text as the store can hold it: U+0000 becomes U+FFFD, as half a surrogate pair does when it is encoded. The store
 * refuses a text with U+0000, and one odd character in a status, a cursor or an error message of the service would end
 * the statement for all rows beside it (decision 0043). JSON keeps both, as escapes.
 */
export function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}
