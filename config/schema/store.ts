import { z } from 'zod';
import { Secret } from '../secret.js';
import { secret, wholeNumber } from '../values.js';

const allowed = 'embedded:FOLDER, or a PostgreSQL URL such as postgres://db.example.com/pigeonpost';

/** The store if neither the file nor the environment names one. */
export const defaultStore = 'embedded:./data';

export type StoreSetting =
  | { readonly kind: 'embedded'; readonly folder: string }
  | { readonly kind: 'postgres'; readonly url: Secret };

/**
 * `store`: a folder or a database. A URL becomes a Secret, because it usually contains a password. A URL with a
 * password must come from the environment or a file.
 */
export const storeSchema = z
  .union([z.instanceof(Secret), z.string()], { error: `allowed: ${allowed}` })
  .transform((found, context): StoreSetting => {
    const text = found instanceof Secret ? found.revealPlain() : found;
    const setting = storeSetting(text);
    if (setting === undefined) {
      context.issues.push({ code: 'custom', input: found, message: `allowed: ${allowed}` });
      return z.NEVER;
    }
    if (setting.kind === 'postgres' && !(found instanceof Secret) && hasPassword(new URL(text))) {
      const message =
        'a password must not be in this file: put the URL into an environment variable and write ${NAME} here';
      context.issues.push({ code: 'custom', input: found, message });
      return z.NEVER;
    }
    return setting.kind === 'postgres' && found instanceof Secret ? { kind: 'postgres', url: found } : setting;
  })
  .prefault(defaultStore)
  .meta({ allowed: '`embedded:FOLDER`, or a PostgreSQL URL' })
  .describe(
    'Where the ledger is kept: in a folder, relative to this file, or in PostgreSQL 15 or later. By default `DATABASE_URL` of the environment, if set. A URL with a password comes from `${NAME}`.',
  );

export const storeConnectionsSchema = wholeNumber({ min: 2, max: 500 })
  .prefault(10)
  .describe(
    'The maximum number of connections of this process to PostgreSQL. While it migrates the schema, it opens one more. All processes and Temporal together must stay below `max_connections` of the server.',
  );

/**
 * The text of a ledger's key, as ledger/ledger-key.ts reads it: 32 bytes, or 96 bytes for a ledger of a version that kept
 * the key in the store.
 */
const keyText = /^\s*(?:[A-Za-z0-9+/_-]{43}=?|[A-Za-z0-9+/_-]{128})\s*$/;

export const ledgerKeySchema = secret()
  .refine((found) => !(found instanceof Secret) || keyText.test(found.reveal()), {
    error: 'allowed: a key of 32 random bytes in base64, such as "openssl rand -base64 32" prints',
  })
  .optional()
  .describe(
    'The key with which the ledger hashes the people behind anonymous items: 32 random bytes in base64 (`openssl rand -base64 32`). Every process of one ledger needs the same key. Default: `LEDGER_KEY` of the environment, if set; else a file that the first start creates: `ledger.key` in the folder of an embedded store, or with PostgreSQL `.pigeonpost/pigeonpost.yaml.ledger.key` beside this file.',
  );

/** Parses the text of `store`; undefined if it is not allowed. */
export function storeSetting(text: string): StoreSetting | undefined {
  const [, folder] = /^embedded:(.*\S.*)$/.exec(text) ?? [];
  if (folder !== undefined) return folder.includes('\0') ? undefined : { kind: 'embedded', folder };
  if (!URL.canParse(text)) return undefined;
  const { protocol } = new URL(text);
  return protocol === 'postgres:' || protocol === 'postgresql:'
    ? { kind: 'postgres', url: new Secret(text) }
    : undefined;
}

const hasPassword = (url: URL) => url.password !== '' || url.searchParams.has('password');
