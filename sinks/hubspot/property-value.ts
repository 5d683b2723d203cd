import { textValue } from '../mapping/property-value.js';
import { truncate } from '../mapping/truncate.js';

/** HubSpot's limit of a text property, in characters (UTF-16). Source: HubSpot, "Property field types". */
export const LONGEST_TEXT = 65_536;

/**
 * What a mapping gave, as HubSpot takes it: always text, no longer than it may be; several choices with semicolons
 * between them. Null clears the property; undefined, also for an empty text, says nothing of it.
 * @throws {MappingError} for an object, which no property can hold
 */
export function propertyValue(value: unknown, key: string): string | null | undefined {
  const text = textValue(value, key);
  if (text === '') return undefined; // a field that someone left empty in a form is no wish to clear what others know
  return typeof text === 'string' ? truncate(text, LONGEST_TEXT) : text;
}

/** As HubSpot keeps e-mail addresses: two that differ in case are one contact. */
export function normalEmail(email: string): string {
  return email.trim().toLowerCase();
}

/**
 * Whether it can be an address at all. HubSpot refuses others, and with them the whole call they stand in; people write
 * "n/a" into fields that a form makes them fill.
 */
export function looksLikeEmail(email: string): boolean {
  return /^[^\s@,;<>()"]+@[^\s@,;<>()"]+\.[^\s@,;<>()".]+$/.test(email);
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '<br>',
};

/**
 * A note's body, which HubSpot takes as HTML: the text as it was written, and below it the mark that identifies the note.
 * Too long a text is cut between two characters.
 */
export function noteText(text: string, mark: string): string {
  const end = `</p><p>${escaped(mark)}</p>`;
  const room = LONGEST_TEXT - '<p>'.length - end.length;
  let shown = truncate(text.replaceAll('\r\n', '\n'), room);
  // Escaping makes it longer by what the text is made of: cut by as much as it is too long until it fits.
  while (escaped(shown).length > room) {
    const share = room / escaped(shown).length;
    shown = truncate(shown, Math.min(shown.length - 1, Math.floor(shown.length * share)));
  }
  return `<p>${escaped(shown)}${end}`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"\n]/g, (character) => escapes[character]!);
}
