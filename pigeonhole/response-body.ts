import { isNestedDeeper } from '../base/json-depth.js';

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
 * Returns the bytes of the member `data` of a JSON object, without parsing the JSON, which would take longer. Two
 * answers with the same items have the same `data`, whereas other members may differ: the service may sign a cursor or
 * put a time into it.
 * @param body valid JSON
 * @returns undefined if there is no such member, or if a member name contains an escape
 */
export function dataSpan(body: Uint8Array): Uint8Array | undefined {
  let at = body.indexOf(openBrace);
  if (at === -1) return undefined;
  let found: Uint8Array | undefined;
  at += 1;
  for (;;) {
    const name = body.indexOf(quote, at);
    if (name === -1) return found; // after the last member
    const nameEnd = endOfString(body, name);
    if (body.subarray(name, nameEnd).includes(backslash)) return undefined;
    const value = body.indexOf(colon, nameEnd) + 1;
    const end = endOfValue(body, value);
    if (memberName.equals(body.subarray(name, nameEnd))) found = body.subarray(value, end);
    if (body[end] !== comma) return found;
    at = end + 1;
  }
}

/** Returns the position after the closing quote. @param at position of the opening quote */
function endOfString(body: Uint8Array, at: number): number {
  let i = at + 1;
  while (i < body.length && body[i] !== quote) i += body[i] === backslash ? 2 : 1;
  return i + 1;
}

/** Returns the position of the comma or brace that ends a value of an object. */
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

/**
 * Maximum nesting of an answer, not counting the rows of a list. It is limited because the code that compares or prints
 * an entity is recursive. Documented answers have at most six levels.
 */
const maxLevels = 60;

/**
 * Maximum nesting of a long answer, rows included. Parsing this number of levels takes 20 ms. Parsing millions of
 * levels would block this thread for a second and take hundreds of MB.
 */
const maxParsedLevels = 100_000;

/** The nesting of longer texts is measured before they are parsed. */
const scannedAboveCharacters = 1_000_000;

/**
 * Parses the JSON of an answer. The rows of a list may be nested deeper than the rest, because `toItems` leaves out
 * such a row and keeps its neighbours, whereas a refused page would stop the list.
 * @throws {SyntaxError} if the text is not JSON
 */
export function parseWithinDepth(text: string): { readonly value: unknown } | 'too deep' {
  if (text.length > scannedAboveCharacters && isNestedDeeper(text, maxParsedLevels)) return 'too deep';
  const value: unknown = JSON.parse(text);
  return isDeeper(withoutRows(value), maxLevels) ? 'too deep' : { value };
}

function withoutRows(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('data' in answer)) return answer;
  return Array.isArray(answer.data) ? { ...answer, data: null } : answer;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  // Parsed JSON has no inherited members, so the loop needs no check for own ones.
  for (const name in value) {
    const member: unknown = (value as Record<string, unknown>)[name];
    if (typeof member === 'object' && member !== null && isDeeper(member, levels - 1)) return true;
  }
  return false;
}
