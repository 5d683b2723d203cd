/** The two parts in which most CRMs keep a person's name; absent: the name has no such part. */
export interface NameParts {
  readonly first?: string;
  readonly last?: string;
}

const suffix = /^(?:jr|sr|ii|iii|iv|ph\.?d|md|mba)\.?$/i;

/**
 * Splits a full name. The last name is the last word, with the particles in lower case before it ("van", "de la") and
 * with a suffix after it ("Jr."); "Lovelace, Ada" is read as last name first. One word is a last name: CRMs that
 * require one of the two require that one. A name can be split by guessing only, so the first name keeps the rest.
 */
export function nameParts(fullName: string): NameParts {
  const name = fullName.trim().replaceAll(/\s+/gu, ' ');
  if (name === '') return {};
  const [before, after, ...more] = name.split(',').map((part) => part.trim());
  const isReversed = before !== '' && after !== undefined && after !== '' && more.length === 0 && !suffix.test(after);
  if (isReversed) return { first: after, last: before! };
  const words = name.split(' ');
  let at = words.length - 1;
  while (at > 0 && suffix.test(words[at]!)) at -= 1;
  // In a name written in lower case throughout, no word can be told to be a particle.
  if (/\p{Lu}/u.test(name)) while (at > 1 && /^\p{Ll}/u.test(words[at - 1]!)) at -= 1;
  const last = words.slice(at).join(' ');
  return at === 0 ? { last } : { first: words.slice(0, at).join(' '), last };
}
