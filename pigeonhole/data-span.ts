const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const memberName = Buffer.from('"data"');

/**
 * Returns the bytes of the member `data` of a JSON object, found without building anything, in less time than parsing
 * takes. The members around it may differ between two answers that show the same items: the service is free to sign a
 * cursor or to put a time into it.
 * @param body valid JSON
 * @returns undefined where there is no such member, or its name could be written in more than one way
 */
export function dataSpan(body: Uint8Array): Uint8Array | undefined {
  let at = body.indexOf(openBrace);
  if (at === -1) return undefined;
  let found: Uint8Array | undefined;
  at += 1;
  for (;;) {
    const name = body.indexOf(quote, at);
    if (name === -1) return found; // behind the last member
    const nameEnd = endOfString(body, name);
    if (body.subarray(name, nameEnd).includes(backslash)) return undefined;
    const value = body.indexOf(colon, nameEnd) + 1;
    const end = endOfValue(body, value);
    if (memberName.equals(body.subarray(name, nameEnd))) found = body.subarray(value, end);
    if (body[end] !== comma) return found;
    at = end + 1;
  }
}

/** @param at of its opening quote; @returns the place behind its closing one */
function endOfString(body: Uint8Array, at: number): number {
  let i = at + 1;
  while (i < body.length && body[i] !== quote) i += body[i] === backslash ? 2 : 1;
  return i + 1;
}

/** The place of the comma or brace behind a value: within an object, at its own level. */
function endOfValue(body: Uint8Array, at: number): number {
  let depth = 0;
  for (let i = at; i < body.length;) {
    const byte = body[i];
    if (byte === quote) {
      i = endOfString(body, i);
      continue;
    }
    if (byte === openBrace || byte === openBracket) depth += 1;
    else if (depth === 0 && (byte === comma || byte === closeBrace)) return i;
    else if (byte === closeBrace || byte === closeBracket) depth -= 1;
    i += 1;
  }
  return body.length;
}
