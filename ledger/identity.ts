/**
 * Names of members that may say who a person is, wherever they stand in an interaction. Broad on purpose: the service
 * may add fields, and a field too few in an anonymous item is a nuisance where one too many is a leak.
 */
const identifying = /attendee|registrant|author|participant|respondent|profile|e-?mail|user(name|id)?$/i;

type Fields = Readonly<Record<string, unknown>>;

/**
 * An interaction without the person: `attendee` becomes `{ anonymous: true }` where the list has that object, every
 * other member that may identify is left out, at any depth. Pure; running it twice changes nothing.
 */
export function withoutIdentity(item: Fields): Fields {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(item)) {
    if (name === 'attendee' && value !== null && typeof value === 'object') kept[name] = { anonymous: true };
    else if (!identifying.test(name)) kept[name] = strip(value);
  }
  return kept;
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !identifying.test(name))
      .map(([name, member]) => [name, strip(member)]),
  );
}
