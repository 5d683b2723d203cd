const form =
  /^(?<date>\d{4}-\d\d-\d\d)[T ](?<minute>\d\d:\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d{1,12}))?)? ?(?<zone>Z|[+-]\d\d(?::?\d\d)?)?$/i;

/**
 * Returns an instant in one spelling, whatever spelling of ISO 8601 it has: the seconds since 1970, with a fraction if
 * there is one (`1795248000.25`). `2026-11-21T08:00:00Z`, `…:00.000Z` and `…10:00:00+02:00` give the same text. A text
 * without an offset is in UTC, as the service writes its instants. Pure.
 * @returns undefined if the text is no instant
 */
export function spellInstant(text: string): string | undefined {
  const parts = form.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const { date, minute, second = '00', fraction = '', zone = 'Z' } = parts;
  const [, sign, hours, minutes = '00'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [null, '+', '00'];
  const ms = Date.parse(`${date}T${minute}:${second}${sign}${hours}:${minutes}`);
  if (Number.isNaN(ms)) return undefined;
  const digits = fraction.replace(/0+$/, '');
  return digits === '' ? String(ms / 1000) : `${ms / 1000}.${digits}`;
}
