/** What the bytes 0x80 to 0x9F are; the five that have no character stay what they are. Source: WHATWG Encoding Standard. */
const high =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

/**
 * Text of Windows-1252 as UTF-8 bytes. By hand, since TextDecoder reads these bytes as Latin-1 in some versions of Node 22
 * and 23 (nodejs/node 56542), which turns a typographic apostrophe into a control character.
 */
export function windows1252ToUtf8(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1').replace(/[\x80-\x9f]/g, (character) => high[character.charCodeAt(0) - 0x80]!);
  return Buffer.from(text);
}
