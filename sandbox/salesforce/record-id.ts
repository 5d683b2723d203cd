const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';

/** An id of 18 characters: prefix, number, and the three that say which of the first fifteen are capitals. */
export function recordId(keyPrefix: string, number: number): string {
  return withSuffix(`${keyPrefix}8d${number.toString(36).padStart(10, '0')}`);
}

/** An id of 15 or 18 characters as one of 18; `undefined` for what is no id. */
export function normalisedId(id: string): string | undefined {
  if (/^[a-z0-9]{15}$/i.test(id)) return withSuffix(id);
  if (/^[a-z0-9]{18}$/i.test(id) && withSuffix(id.slice(0, 15)).toLowerCase() === id.toLowerCase()) {
    return withSuffix(id.slice(0, 15));
  }
  return undefined;
}

function withSuffix(id: string): string {
  const suffix = [0, 5, 10].map((from) => {
    const bits = id.slice(from, from + 5).split('');
    return ALPHABET[bits.reduce((sum, character, at) => sum + (/[A-Z]/.test(character) ? 2 ** at : 0), 0)];
  });
  return id + suffix.join('');
}
