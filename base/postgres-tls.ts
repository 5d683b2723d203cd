import type { ConnectionOptions } from 'node:tls';

/**
 * Values of `sslmode` in the URL of a PostgreSQL server, for the store and for sinks (decision 0087).
 * - `verify-full`: encrypted, and the server presents a certificate of a trusted authority for its host name.
 * - `require`, `prefer`: the same as `verify-full`. For these values, libpq encrypts without verifying the server. But
 *   database providers give their users URLs with `sslmode=require`, and the users expect that the server is verified.
 * - `verify-ca`: like `verify-full`, but the certificate may be for any host name.
 * - `no-verify`: encrypted, and the server is not verified.
 * - `disable`: not encrypted.
 */
const modes = {
  'verify-full': 'verify-full',
  require: 'verify-full',
  prefer: 'verify-full',
  'verify-ca': 'verify-ca',
  'no-verify': 'no-verify',
  disable: 'disable',
} as const;

export type PostgresTlsMode = (typeof modes)[keyof typeof modes];

/** The accepted values, for messages. */
export const sslModes: readonly string[] = Object.keys(modes);

/** @returns undefined for a value that is not accepted */
export function tlsModeOf(sslmode: string): PostgresTlsMode | undefined {
  return Object.hasOwn(modes, sslmode) ? modes[sslmode as keyof typeof modes] : undefined;
}

/**
 * Returns the TLS options of a mode. They are explicit, so that neither NODE_TLS_REJECT_UNAUTHORIZED=0 nor PGSSLMODE in
 * the environment can weaken them.
 */
export function tlsOptionsOf(mode: Exclude<PostgresTlsMode, 'disable'>): ConnectionOptions {
  return {
    minVersion: 'TLSv1.2',
    rejectUnauthorized: mode !== 'no-verify',
    ...(mode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
  };
}
