/**
 * Names of members that may identify a person, at any depth of an interaction. The pattern is broad on purpose, because
 * the service may add fields: a missing field in an anonymous item is a nuisance, but an identifying one is a leak.
 */
const identifying =
  /attendee|registrant|author|participant|respondent|voter|asker|submitter|sender|creator|createdby|profile|avatar|e-?mail|phone|linkedin|twitter|(first|last|full|display|screen|nick|given|family)[-_ ]?name|user(name|id)?$/i;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Removes the person from an interaction. An `attendee` object becomes `{ anonymous: true }`; every other member that
 * may identify the person is left out, at any depth. Pure; running it twice changes nothing.
 */
export function withoutIdentity(item: Fields): Fields {
  const kept: [name: string, value: unknown][] = [];
  for (const [name, value] of Object.entries(item)) {
    if (name === 'attendee' && value !== null && typeof value === 'object') kept.push([name, { anonymous: true }]);
    else if (!identifying.test(name)) kept.push([name, strip(value)]);
  }
  return Object.fromEntries(kept); // an assignment would lose a member named `__proto__`
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
