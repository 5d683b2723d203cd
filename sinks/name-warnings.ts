/**
 * Returns a warning for each name field that a mapping always overwrites, although the destination finds people by
 * e-mail: they already have a name, which a user of the destination may have corrected. Pure.
 * @param path key of the record in the configuration
 */
export function nameWarnings(properties: Readonly<Record<string, { readonly write: string }>>, path: string): string[] {
  return Object.entries(properties)
    .filter(([field, { write }]) => /^(?:first|middle|last)name$/i.test(field) && write === 'always')
    .map(
      ([field]) =>
        `warning: ${path}.properties.${field}: "always" replaces the name of people who are found by e-mail; ` +
        'write it as { value: …, write: if-empty }',
    );
}
