import { textValue } from '../mapping/expression.js';
import { dayStartMs } from '../../base/instant.js';
import { instantOf, truncate } from '../mapping/mapping-functions.js';
import { FailedMapping } from '../mapping/mapping-error.js';
import { emailAddress } from '../mapping/crm-records.js';
import type { Attendance } from './operation.js';

/** Maximum length of a text property, in UTF-16 characters. Source: HubSpot, "Property field types". */
export const LONGEST_TEXT = 65_536;

/**
 * Converts a mapping's value into the text of a property. A text that is too long is cut, and several choices are
 * joined with semicolons. Null clears the property. Undefined (also the result for an empty text) leaves it unchanged.
 * @throws {MappingError} for an object, which no property accepts
 */
export function propertyValue(value: unknown, key: string): string | null | undefined {
  const text = textValue(value, key);
  if (text === '') return undefined; // an empty field of a form must not clear a value from another system
  return typeof text === 'string' ? truncate(text, LONGEST_TEXT) : text;
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '<br>',
};

/**
 * Returns a note's body as HTML: the text, and below it the mark that identifies the note. A text that is too long is
 * cut, but not inside a character.
 */
export function noteText(text: string, mark: string): string {
  const end = `</p><p>${escaped(mark)}</p>`;
  const room = LONGEST_TEXT - '<p>'.length - end.length;
  let shown = truncate(text.replaceAll('\r\n', '\n'), room);
  // Escaping makes the text longer, by an amount that depends on its characters. The text is shortened until it fits.
  while (escaped(shown).length > room) {
    const share = room / escaped(shown).length;
    shown = truncate(shown, Math.min(shown.length - 1, Math.floor(shown.length * share)));
  }
  return `<p>${escaped(shown)}${end}`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"\n]/g, (character) => escapes[character]!);
}

export function instantValue(found: unknown, key: string): string | undefined {
  const value = propertyValue(found, key);
  if (value == null) return undefined;
  // A calendar day is its start in UTC, as in JavaScript.
  const atMs = dayStartMs(value.trim()) ?? instantOf(value);
  if (atMs === undefined) throw new FailedMapping(key, 'value', 'returned no time in ISO 8601');
  return new Date(atMs).toISOString();
}

export function listIdValue(found: unknown, key: string): string | undefined {
  const value = propertyValue(found, key);
  if (value == null) return undefined;
  if (!/^\d{1,18}$/.test(value)) throw new FailedMapping(key, 'value', 'returned no list id, which must be a number');
  return value;
}

/**
 * Checks an e-mail address. An invalid one becomes a dead letter with the cause that HubSpot's own refusal has, so that
 * both are in one group.
 */
export function emailValue(found: unknown, key: string): string | null | undefined {
  const value = propertyValue(found, key);
  if (typeof value !== 'string') return value;
  const email = emailAddress(value);
  if (email === null) throw new NoEmailError(key);
  return email;
}

class NoEmailError extends FailedMapping {
  override readonly causeCode = 'hubspot:INVALID_EMAIL:email';

  constructor(key: string, where = '') {
    super(key, 'not-an-email', 'returned a text that is not an e-mail address', where);
  }

  override placed(where: string): NoEmailError {
    return new NoEmailError(this.key, where);
  }
}

const attendances: readonly Attendance[] = ['register', 'attend', 'cancel'];

export function attendanceValue(found: unknown, key: string): Attendance | undefined {
  const value = propertyValue(found, key);
  if (value == null) return undefined;
  const attendance = attendances.find((each) => each === value);
  if (attendance === undefined) throw new FailedMapping(key, 'value', `returned none of ${attendances.join(', ')}`);
  return attendance;
}

export function requiredValue(found: unknown, key: string): string {
  const value = propertyValue(found, key);
  if (value == null) throw new FailedMapping(key, 'nothing', 'returned nothing, but a value is required');
  return value;
}
