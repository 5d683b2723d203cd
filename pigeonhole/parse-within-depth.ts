/**
 * Levels of an answer, envelope included. The documented ones have six at most. What stores, hashes and compares items
 * recurses into them, so an answer that is nested without end must not get there.
 */
const maxLevels = 60;

/** A longer text is looked at before it is parsed: parsing millions of brackets takes seconds. */
const scannedAboveCharacters = 1_000_000;

/** Parses the JSON of an answer. @throws {SyntaxError} when it is none */
export function parseWithinDepth(text: string): { readonly value: unknown } | 'too deep' {
  if (text.length > scannedAboveCharacters && isTextDeeper(text)) return 'too deep';
  const value: unknown = JSON.parse(text);
  // a twelfth of the time that parsing took
  return isDeeper(value, maxLevels) ? 'too deep' : { value };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  // oxlint-disable-next-line guard-for-in -- parsed JSON inherits nothing
  for (const name in value) {
    const member: unknown = (value as Record<string, unknown>)[name];
    if (typeof member === 'object' && member !== null && isDeeper(member, levels - 1)) return true;
  }
  return false;
}

function isTextDeeper(text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isString) {
      if (character === '\\') at += 1;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '[' || character === '{') {
      depth += 1;
      if (depth > maxLevels) return true;
    } else if (character === ']' || character === '}') depth -= 1;
  }
  return false;
}
