import { z } from '@hono/zod-openapi';
import { printable } from '../../base/printable.js';

/** ID, or WORKSPACE/ID. */
export const pigeonholeNamePattern = /^(?:[a-z0-9][a-z0-9-]{0,62}\/)?[1-9]\d{0,14}$/;

/** A name for a mapping that is kept: what can stand on a command line. */
export const mappingNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** As a query it may take three times as much; see `largestHeadBytes` of the server. */
const longestMapping = 16 * 1024;

const flag = z.enum(['true', 'false']).transform((text) => text === 'true');

/** How a file is to be imported, as the query of an upload: its body is the file. */
export const importRequestSchema = z.strictObject({
  pigeonhole: z.string().regex(pigeonholeNamePattern),
  /** The file's own name, without a folder. */
  name: printable(255),
  /** JSON list: `COLUMN=FIELD`, `COLUMN=` not to send it, or the name of a saved mapping, which gives way to the others. */
  map: z
    .string()
    .max(longestMapping)
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: 'custom', message: 'no JSON' });
        return z.NEVER;
      }
    })
    .pipe(z.array(z.string().min(1).max(1000)).max(500))
    .optional(),
  /** Keep the mapping under this name, once the import has begun. */
  saveMapping: z.string().regex(mappingNamePattern).optional(),
  encoding: printable(40).optional(),
  delimiter: z.string().min(1).max(4).optional(),
  sheet: printable(100).optional(),
  /** Import so many rows and stop. */
  canary: z.coerce.number().int().min(1).max(1000).optional(),
  /** Rows without a code are given one. */
  generateCodes: flag.optional(),
  /** Also into a pigeonhole that has ended. */
  force: flag.optional(),
  by: printable(200).optional(),
  /** `contentHash` of the check that a person has looked at: a file that has changed since is refused. */
  content: z.string().max(100).optional(),
});
export type ImportRequest = z.infer<typeof importRequestSchema>;

/** What a person asks of an import. */
export const importActionSchema = z.strictObject({
  do: z.enum(['pause', 'resume', 'cancel']),
  by: printable(200).optional(),
  reason: printable(500).optional(),
});
export type ImportAction = z.infer<typeof importActionSchema>;

/**
 * Why an import is not begun, or nothing is done to it.
 * - `unknown` no such pigeonhole, import or mapping
 * - `wrong` what was asked cannot be meant: two pigeonholes of one id, an ended one without force
 * - `stopped` something has to be switched on or resumed first: registrants, the workspace; or the file is being changed
 * - `unreachable` the service cannot be asked now
 */
export type ImportRefusalKind = 'unknown' | 'wrong' | 'stopped' | 'unreachable';

/** Nothing was begun. The message is one sentence for a person: what, where, what to do. */
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
