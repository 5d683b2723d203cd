/**
 * Characters that nobody sees and that people paste with a text: zero width, soft hyphens, marks of direction and of
 * byte order, control characters, and fillers. Not for names, whose joiners matter.
 */
const invisible = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Returns the text without the characters that nobody sees, and without white space around it. */
export function withoutInvisible(text: string): string {
  return text.replace(invisible, '').trim();
}

/** Lengths in bytes. Source: RFC 5321, 4.5.3.1.1 and 4.5.3.1.3 (a path of 256 bytes includes its angle brackets). */
const longestAddress = 254;
const longestLocalPart = 64;

const form = /^([^\s@,;<>()"]+)@[^\s@,;<>()".]+(?:\.[^\s@,;<>()".]+)+$/u;

/**
 * Returns an e-mail address as a person meant it: without invisible characters and without the `mailto:` of a copied
 * link. Undefined: the text cannot be an address. One that is not possible can make a vendor refuse a whole call, and
 * "n/a", which people write into required fields, would make all of them one person. Pure.
 */
export function cleanEmailAddress(text: string): string | undefined {
  const cleaned = withoutInvisible(text);
  const isLink = /^mailto:/i.test(cleaned);
  const address = isLink ? cleaned.slice('mailto:'.length).replace(/\?.*$/s, '').trim() : cleaned;
  const [, local = ''] = form.exec(address) ?? [];
  const isShort = Buffer.byteLength(address) <= longestAddress && Buffer.byteLength(local) <= longestLocalPart;
  return local !== '' && isShort ? address : undefined;
}
