/** HubSpot's limit of a text property, in characters (UTF-16). Source: HubSpot, "Property field types". */
export const LONGEST_TEXT = 65_536;

/**
 * What a mapping gave, as HubSpot takes it: always text. Undefined: nothing is said of the property; empty: it is cleared.
 * Several values are joined as those of a multiple checkbox are.
 * @throws {TypeError} for a group, which no property can hold
 */
export function propertyValue(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) return '';
  if (Array.isArray(value)) return cut(value.map((each) => propertyValue(each) ?? '').join(';'));
  if (typeof value === 'string') return cut(value);
  if (typeof value === 'boolean' || typeof value === 'number') return String(value);
  throw new TypeError('gives a group, which no HubSpot property can hold: choose one of its fields');
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

/** At most as long as HubSpot takes it, without half a character at its end. */
function cut(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  const end = /[\ud800-\udbff]/.test(text[LONGEST_TEXT - 1]!) ? LONGEST_TEXT - 1 : LONGEST_TEXT;
  return text.slice(0, end);
}
