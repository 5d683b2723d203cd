import { resolve } from 'node:path';
import { isIP } from 'node:net';
import { z } from 'zod';
import { Secret } from '../secret.js';
import { baseUrl, filePath, headerSecret, listOf, nonEmptyText, secret, text, wholeNumber } from '../values.js';

/**
 * Settings of a single process: Temporal, its own server, the network, the store. Processes of one installation may
 * differ in them.
 */

/** Minimum length of a token chosen by an administrator. */
const minTokenLength = 24;
const minDifferent = 8;

/**
 * Whether a token could be guessed: it has fewer than 24 characters, fewer than 8 different ones, or repeats a part of
 * itself. Random tokens pass; `openssl rand -hex 12` fails at most once in 10,000 times.
 */
export function isGuessable(token: string): boolean {
  const different = new Set(token).size;
  return token.length < minTokenLength || different < minDifferent || isRepetition(token);
}

function isRepetition(token: string): boolean {
  for (let part = 1; part <= token.length / 2; part += 1) {
    if (token.slice(part) === token.slice(0, -part)) return true;
  }
  return false;
}

const hostAndPort = 'embedded, or host:port such as temporal.example.com:7233';

export const temporalSchema = z
  .strictObject({
    address: text(hostAndPort, (found) => (found === 'embedded' || isHostAndPort(found) ? found : undefined))
      .prefault('embedded')
      .describe(
        "A Temporal server. `embedded` starts one as a child, with its data in the embedded store's folder. By default `TEMPORAL_ADDRESS` of the environment, if set.",
      ),
    namespace: nonEmptyText('the name of a namespace')
      .prefault('default')
      .describe('Temporal namespace; it must exist. By default `TEMPORAL_NAMESPACE` of the environment, if set.'),
    taskQueue: nonEmptyText('the name of a task queue')
      .prefault('pigeonpost')
      .describe('Temporal task queue. Workers of one installation share it, two installations never do.'),
    maxCachedWorkflows: wholeNumber({ min: 0, max: 100_000, unit: 'workflows' })
      .prefault(600)
      .describe('Workflows kept in memory between their steps; 600 take about 1 GB.'),
    apiKey: headerSecret().optional().describe('API key of Temporal Cloud. TLS is used whenever it is given.'),
    tls: z
      .strictObject({
        ca: filePath()
          .optional()
          .describe("PEM file with the certificates that the server's is checked against, instead of the system's."),
        certificate: filePath().optional().describe("PEM file with the client's certificate; needs `key`."),
        key: secret()
          .optional()
          .describe(
            "PEM text of the client's private key, e.g. `${file:/run/secrets/temporal.key}`; needs `certificate`.",
          ),
      })
      .refine((tls) => (tls.certificate === undefined) === (tls.key === undefined), {
        error: 'certificate and key belong together; give both or none',
      })
      .optional()
      .describe("TLS to the server; `{}` uses it with the system's certificates."),
  })
  .prefault({})
  .describe('The Temporal server that runs the workflows.');

function isHostAndPort(found: string): boolean {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(found);
  if (match === null) return false;
  const [, address, , port] = match;
  return (address === undefined || isIP(address) === 6) && Number(port) >= 1 && Number(port) <= 65_535;
}

/** Whether a text can be sent in a header. If not, `headerSecret` reports the problem. */
const isHeaderText = (found: string) => /^[\x21-\x7e]+$/.test(found);

const hostAllowed = 'a host name or address such as 127.0.0.1';

const isHost = (found: string) => isIP(found) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(found);

export const serverSchema = z
  .strictObject({
    host: text(hostAllowed, (found) => (isHost(found) ? found : undefined))
      .prefault('127.0.0.1')
      .describe('Address that the API listens on. Off loopback, `token` has to be set.'),
    port: wholeNumber({ min: 0, max: 65_535 }).prefault(8088).describe('Port of the API; 0 takes a free one.'),
    token: headerSecret()
      .refine((found) => !(found instanceof Secret) || !isHeaderText(found.reveal()) || !isGuessable(found.reveal()), {
        error: `allowed: a secret of ${minTokenLength} characters or more, 8 of them different, without a part that repeats; "openssl rand -hex 24" makes one`,
      })
      .optional()
      .describe(
        "The administrator's token of the API. Needed off loopback; elsewhere pigeonpost creates one for its own user. Create named tokens with roles with `pigeonpost token create`.",
      ),
    publicUrl: baseUrl()
      .optional()
      .describe('The public address of this process, for example that of a proxy. Links lead there.'),
    maxConnectionsPerAddress: wholeNumber({ min: 1, max: 1000, unit: 'connections' })
      .prefault(250)
      .describe(
        'Open connections that one address may have, of 1000 in all. Behind a proxy all clients have its address: raise it there, and let the proxy limit its clients.',
      ),
    probes: z
      .strictObject({
        host: text(hostAllowed, (found) => (isHost(found) ? found : undefined))
          .prefault('127.0.0.1')
          .describe('Address of that port. For Kubernetes, 0.0.0.0.'),
        port: wholeNumber({ min: 0, max: 65_535 }).describe('Port that answers `/healthz` and `/readyz` only.'),
      })
      .optional()
      .describe(
        'A port of their own for probes, so that they are answered even if clients use all connections of the API. The API answers them as well.',
      ),
  })
  .prefault({})
  .describe('The HTTP API of this process, which commands and the page use.');

/**
 * A text that may be a URL with a password, which then has to come from the environment or a file.
 * @param read converts the text, given as it is and as a Secret; undefined means that it is not allowed
 */
function addressWithPassword<Value>(allowed: string, read: (found: string, secret: Secret) => Value | undefined) {
  return z.union([z.instanceof(Secret), z.string()], { error: `allowed: ${allowed}` }).transform((found, context) => {
    const isSecret = found instanceof Secret;
    const value = read(isSecret ? found.revealPlain() : found, isSecret ? found : new Secret(found));
    const isBare = !isSecret && value !== undefined && hasPassword(found);
    if (value !== undefined && !isBare) return value;
    const message = isBare
      ? 'a password must not be in this file: put the URL into an environment variable and write ${NAME} here'
      : `allowed: ${allowed}`;
    context.issues.push({ code: 'custom', input: found, message });
    return z.NEVER;
  });
}

function hasPassword(text: string): boolean {
  const url = /^\w+:\/\//.test(text) ? new URL(text) : undefined;
  return url !== undefined && (url.password !== '' || url.searchParams.has('password'));
}

/** A Secret, because a proxy's URL may contain a password; `none` ignores the environment's proxy. */
const proxySchema = addressWithPassword<Secret | 'none'>(
  'a proxy such as http://proxy.example.com:3128, or none',
  (found, secret) => {
    if (found === 'none') return 'none';
    return URL.canParse(found) && /^https?:$/.test(new URL(found).protocol) ? secret : undefined;
  },
);

export const networkSchema = z
  .strictObject({
    proxy: proxySchema
      .optional()
      .meta({ allowed: 'an http or https URL, or `none`' })
      .describe(
        'Proxy for requests to the service and to sinks. By default `HTTPS_PROXY` of the environment; a URL with a password comes from `${NAME}`.',
      ),
    noProxy: nonEmptyText('a list of hosts such as localhost,.example.com')
      .optional()
      .describe(
        'Hosts that are reached without the proxy, separated by commas. By default `NO_PROXY` of the environment.',
      ),
    ca: filePath().optional().describe("PEM file with certificates to trust in addition to the system's."),
    allowHosts: listOf(
      text('a host name such as hooks.example.com, or .example.com for all below it', (found) =>
        /^\.?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(found) || isIP(found) !== 0
          ? found.toLowerCase()
          : undefined,
      ),
      { allowed: 'a list of host names', atLeast: 0 },
    )
      .prefault([])
      .describe('Hosts that sinks may reach behind a proxy, where addresses cannot be checked when connecting.'),
    maxAnswerMb: wholeNumber({ min: 1, max: 64, unit: 'MB' })
      .prefault(8)
      .describe(
        'Largest answer of the service that is read. The process can do nothing else for about a second per megabyte, so a larger answer is refused: its stream keeps what it has and is read again later.',
      ),
  })
  .prefault({})
  .describe('Connections to other machines.');

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
export const storeSchema = addressWithPassword(allowed, storeSetting)
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

/** The text of a ledger's key, as ledger/ledger-key.ts reads it: 32 bytes. */
const keyText = /^\s*[A-Za-z0-9+/_-]{43}=?\s*$/;

export const ledgerKeySchema = secret()
  .refine((found) => !(found instanceof Secret) || keyText.test(found.reveal()), {
    error: 'allowed: a key of 32 random bytes in base64, such as "openssl rand -base64 32" prints',
  })
  .optional()
  .describe(
    'The key with which the ledger hashes the people behind anonymous items: 32 random bytes in base64 (`openssl rand -base64 32`). Every process of one ledger needs the same key. Default: `LEDGER_KEY` of the environment, if set; else a file that the first start creates: `ledger.key` in the folder of an embedded store, or with PostgreSQL `.pigeonpost/pigeonpost.yaml.ledger.key` beside this file.',
  );

/** Parses the text of `store`; undefined if it is not allowed. */
export function storeSetting(text: string, url = new Secret(text)): StoreSetting | undefined {
  const [, folder] = /^embedded:(.*\S.*)$/.exec(text) ?? [];
  if (folder !== undefined) return folder.includes('\0') ? undefined : { kind: 'embedded', folder };
  return URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol) ? { kind: 'postgres', url } : undefined;
}

/** Returns a setting with an absolute path. @param folder the folder of the file that contains it */
export function absoluteStore(store: StoreSetting, folder: string): StoreSetting {
  return store.kind === 'embedded' ? { kind: 'embedded', folder: resolve(folder, store.folder) } : store;
}
