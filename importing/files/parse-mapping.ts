import type { MappingWishes } from './column-mapping.js';
import { RegistrantFileError } from './registrant-file-error.js';

/**
 * What a person asks for on a command line: `Attendee code=attendeeCode` sends a column as a field, `Notes=` does not send it. The
 * last `=` separates, since headers hold more of them than field names do.
 * @throws {RegistrantFileError} kind `mapping` for a text without `=` or a column that is named twice
 */
export function parseMapping(flags: readonly string[]): MappingWishes {
  const wishes = new Map<string, string | null>();
  for (const flag of flags) {
    const at = flag.lastIndexOf('=');
    const column = flag.slice(0, Math.max(at, 0)).trim();
    if (column === '') {
      throw new RegistrantFileError(
        'mapping',
        `The mapping ${JSON.stringify(flag)} is not of the form "column=field".`,
      );
    }
    if (wishes.has(column)) {
      throw new RegistrantFileError(
        'mapping',
        `The mapping names the column ${JSON.stringify(column)} twice; leave one out.`,
      );
    }
    const property = flag.slice(at + 1).trim();
    wishes.set(column, property === '' ? null : property);
  }
  return Object.fromEntries(wishes);
}
