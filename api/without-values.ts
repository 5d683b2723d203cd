/**
 * The shape of data without what it says: members and their kinds stay, texts and numbers do not. What is true or false,
 * and what is empty, says little enough of anyone. Pure.
 */
export function withoutValues(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(withoutValues);
  if (typeof data === 'object' && data !== null) {
    return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, withoutValues(value)]));
  }
  if (data === '' || data === null || typeof data === 'boolean') return data;
  return typeof data === 'number' ? '(number)' : '(text)';
}
