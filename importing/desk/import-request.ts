import { z } from '@hono/zod-openapi';
import { printable } from '../../base/printable.js';

/** ID, or WORKSPACE/ID. */
export const pigeonholeNamePattern = /^(?:[a-z0-9][a-z0-9-]{0,62}\/)?[1-9]\d{0,14}$/;

/** The name of a saved mapping, usable on a command line. */
const mappingNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** A URL may need three times as many bytes; see `largestHeadBytes` of the server. */
const longestMapping = 16 * 1024;

const flag = z.enum(['true', 'false']).transform((text) => text === 'true');

/** The query of an upload. Its body is the file. */
export const importRequestSchema = z.strictObject({
  pigeonhole: z.string().regex(pigeonholeNamePattern),
  /** The file's name without a folder. */
  name: printable(255),
  /**
   * JSON list of `COLUMN=FIELD`, `COLUMN=` (omits the column) and names of saved mappings. The first two override saved
   * mappings.
   */
  map: z
    .string()
    .max(longestMapping)
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: 'custom', message: 'not JSON' });
        return z.NEVER;
      }
    })
    .pipe(z.array(z.string().min(1).max(1000)).max(500))
    .optional()
    .openapi({ type: 'string', maxLength: longestMapping, pattern: '^\\s*\\[[\\s\\S]*\\]\\s*$' }),
  /** Saves the mapping under this name once the import has started. */
  saveMapping: z.string().regex(mappingNamePattern).optional(),
  encoding: printable(40).optional(),
  delimiter: z.string().min(1).max(4).optional(),
  sheet: printable(100).optional(),
  /** Imports this number of rows and stops. */
  canary: z.coerce.number().int().min(1).max(1000).optional(),
  /** Generates codes for rows without one. */
  generateCodes: flag.optional(),
  /** Imports even into a pigeonhole that has ended. */
  force: flag.optional(),
  by: printable(200).optional(),
  /** `contentHash` of the check that a person confirmed: a file that has changed since is refused. */
  content: z.string().max(100).optional(),
});
export type ImportRequest = z.infer<typeof importRequestSchema>;

/** A person's request about an import. */
export const importActionSchema = z.strictObject({
  do: z.enum(['pause', 'resume', 'cancel']),
  by: printable(200).optional(),
  reason: printable(500).optional(),
});
export type ImportAction = z.infer<typeof importActionSchema>;

/**
 * Why an import is not started or changed:
 * - `unknown` no such pigeonhole, import or mapping
 * - `wrong` the request is probably a mistake: two pigeonholes have the ID, or the event has ended and `force` is missing
 * - `stopped` something has to be enabled or resumed first, such as registrants or the workspace, or the file has
 *   changed
 * - `unreachable` the service cannot be reached now
 */
export type ImportRefusalKind = 'unknown' | 'wrong' | 'stopped' | 'unreachable';

/** An import was not started or changed. The message is one sentence: what is wrong, where, and what to do. */
export class ImportRefusal extends Error {
  override readonly name = 'ImportRefusal';

  constructor(
    readonly kind: ImportRefusalKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
