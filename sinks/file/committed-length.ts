/** The committed length of a file in bytes, as the lane remembers it by its path; 0 for a file it knows nothing of. */
export function committedLength(memory: Readonly<Record<string, unknown>>, path: string): number {
  const length = Object.hasOwn(memory, path) ? memory[path] : 0;
  return typeof length === 'number' && Number.isSafeInteger(length) && length > 0 ? length : 0;
}
