import { z } from 'zod';
import { listNames } from '../../base/lists.js';
import { Secret } from '../../config/secret.js';
import { duration, headerSecret, listOf, nonEmptyText, oneOf, secret, text, wholeNumber } from '../../config/values.js';
import { expression } from '../mapping/expression-schema.js';
import type { Expression } from '../mapping/expression.js';
import { signingAlgorithm } from '../rest/sign-jwt.js';

/**
 * The keys of an `http` sink, as users and presets write them. Every key is optional here, because a preset may set it.
 * config.ts merges both and reports missing keys. The description of each key names its default.
 */

const isAddress = (found: string): boolean => {
  if (!URL.canParse(found)) return false;
  const { protocol, username, password, hash } = new URL(found);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' && hash === '';
};

const addressAllowed =
  'an https address such as https://api.example.com/v1; if the address contains a token or a query, write it as ${NAME}';

/**
 * Schema of the address: a text, or a Secret if it comes from a variable, because anyone who knows the address of a
 * webhook can send to it.
 */
const baseUrl = () =>
  z
    .unknown()
    .transform((found, context): string | Secret => {
      const address = found instanceof Secret ? found.reveal() : found;
      const isOpen = typeof found === 'string' && found.includes('?');
      if (typeof address === 'string' && isAddress(address) && !isOpen) return found as string | Secret;
      context.issues.push({ code: 'custom', input: undefined, message: `allowed: ${addressAllowed}` });
      return z.NEVER;
    })
    .meta({ allowed: addressAllowed });

/** Schema of a text or a secret. At some vendors the user of `basic` is a name, at others a secret key. */
const textOrSecret = () =>
  z
    .unknown()
    .transform((found, context): Secret => {
      const value = typeof found === 'string' ? new Secret(found) : found;
      if (value instanceof Secret && value.reveal().trim() !== '') return value;
      context.issues.push({ code: 'custom', input: undefined, message: 'allowed: a text, or ${NAME}' });
      return z.NEVER;
    })
    .meta({ allowed: 'a text, or `${NAME}`' });

const signingKey = () =>
  secret()
    .refine((found) => signingAlgorithm(found.reveal()) !== undefined, {
      error: 'allowed: an RSA key (2048 bits or more) or EC key (P-256), PEM without passphrase, as ${file:/path}',
    })
    .meta({ allowed: 'a private key (PEM, RSA or EC P-256), written as `${file:/path}`', secret: true });

const tokenUrl = () =>
  text('an https address such as https://login.example.com/token', (found) => (isAddress(found) ? found : undefined));

export const authTypes = [
  'none',
  'bearer',
  'basic',
  'header',
  'parameter',
  'client-credentials',
  'jwt-bearer',
] as const;

const auth = z.strictObject({
  type: oneOf(authTypes)
    .optional()
    .describe('The kind of credentials: `none` (default), or one of those that the keys below name.'),
  token: headerSecret().optional().describe('`bearer`: the token.'),
  username: textOrSecret().optional().describe('`basic`: the user, or the key that a vendor expects in its place.'),
  password: secret().optional().describe('`basic`: the password; empty by default.'),
  name: text('the name of a header or parameter', (found) => (/^[\w-]{1,60}$/.test(found) ? found : undefined))
    .optional()
    .describe('`header`, `parameter`: the name.'),
  value: headerSecret()
    .optional()
    .describe(
      '`header`, `parameter`: the secret. A parameter is sent as a field of the form, or in the query if the body is not a form.',
    ),
  tokenUrl: tokenUrl().optional().describe('`client-credentials`, `jwt-bearer`: the address that issues tokens.'),
  clientId: nonEmptyText('a client id').optional().describe('`client-credentials`: the id of the client.'),
  clientSecret: secret().optional().describe('`client-credentials`: its secret.'),
  clientAuthentication: oneOf(['client_secret_basic', 'client_secret_post'])
    .optional()
    .describe('`client-credentials`: whether the secret is sent in a header (default) or in the form.'),
  scope: nonEmptyText('a scope').optional().describe('`client-credentials`, `jwt-bearer`: the scope to request.'),
  audience: nonEmptyText('an audience').optional().describe('`client-credentials`: the API that the token is for.'),
  resource: nonEmptyText('a resource').optional().describe('`client-credentials`: the resource of RFC 8707.'),
  privateKey: signingKey()
    .optional()
    .describe('`jwt-bearer`: the key that signs the assertions, with RS256 or ES256 depending on its type.'),
  keyId: nonEmptyText('the id of a key').optional().describe('`jwt-bearer`: the header `kid` of the assertions.'),
  claims: z
    .record(nonEmptyText('the name of a claim'), z.union([z.string(), z.number(), z.boolean()]), {
      error: 'allowed: a group of claims, each with a text or a number',
    })
    .optional()
    .describe('`jwt-bearer`: `iss`, `sub`, `aud` and what else is expected; `iat` and `exp` are added.'),
});

/** Headers that users cannot set, because the sink or the connection sets them. */
const ownHeaders = new Set(
  'authorization connection content-length content-type cookie host keep-alive transfer-encoding upgrade'.split(' '),
);

const headerName = () =>
  text('the name of a header that the sink does not set itself; credentials belong to "auth"', (found) =>
    /^[A-Za-z][\w-]{0,60}$/.test(found) && !ownHeaders.has(found.toLowerCase()) ? found.toLowerCase() : undefined,
  );

const headers = () =>
  z.record(headerName(), expression(), { error: 'allowed: names of headers, each with a JSONata expression' });

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof methods)[number];

const methodAllowed = `one of ${methods.join(', ')}, or a JSONata expression`;

/** Schema of a method: one of the known methods in capital letters. Any other text is an expression. */
const method = () =>
  z
    .unknown()
    .transform((found, context): Method | Expression => {
      const isWord = typeof found === 'string' && /^[A-Z]+$/.test(found);
      if (methods.includes(found as Method)) return found as Method;
      const parsed = isWord || typeof found !== 'string' ? undefined : expression().safeParse(found);
      if (parsed?.success === true) return parsed.data;
      const message = parsed?.error?.issues[0]?.message ?? `allowed: ${methodAllowed}`;
      context.issues.push({ code: 'custom', input: found, message });
      return z.NEVER;
    })
    .meta({ allowed: methodAllowed });

const requestShape = {
  method: method().optional().describe('The method.'),
  url: expression().optional().describe('The part after `baseUrl`: a text that begins with / or ?.'),
  headers: headers().optional().describe('Further headers, each with an expression.'),
  body: expression().optional().describe('The body: an object or a list. Without it there is none.'),
  encoding: oneOf(['json', 'form'])
    .optional()
    .describe('How the body is written: `json` (default), or `form`, which writes `a: [{b: 1}]` as `a[0][b]=1`.'),
};

const request = () =>
  z.strictObject({
    ...requestShape,
    batch: expression()
      .optional()
      .describe('The body of a request for several items, made from `items`, the list of their bodies.'),
    idFrom: expression()
      .optional()
      .describe('The id of the record, read from `status`, `body` and `headers` of the response.'),
  });

const records = z.strictObject({
  name: nonEmptyText('a name')
    .optional()
    .describe(
      'Tells entries for one list apart; the name of the list by default. Keep it: what was sent is stored with it.',
    ),
  from: oneOf(listNames).optional().describe('The list whose items are sent.'),
  when: expression().optional().describe('Only items for which this is true.'),
  properties: z
    .record(nonEmptyText('a name'), expression(), { error: 'allowed: names, each with a JSONata expression' })
    .optional()
    .describe(
      'Values that the expressions of the requests read as `properties`. The guide of a preset lists those that it reads.',
    ),
  requires: listOf(nonEmptyText('a property'), { allowed: 'a list of properties', atLeast: 0 })
    .optional()
    .describe('Properties without which an item is withheld (`no-value`).'),
  on: listOf(oneOf(['create', 'update', 'delete']), { allowed: 'a list of create, update, delete' })
    .optional()
    .describe('The events to send: by default, all that have a request. `[create]` sends an item once.'),
  find: request()
    .extend({
      holds: expression()
        .optional()
        .describe(
          'For audits: the values of the record that was found, by the names of `properties`, read like `idFrom`. Without it, an audit only finds out whether the record exists.',
        ),
    })
    .optional()
    .describe('Sent before `create`: if `idFrom` reads an id from the answer, the record exists and `update` is sent.'),
  create: request().optional().describe('Sent for a new item.'),
  update: request()
    .optional()
    .describe(
      'Sent for a changed item that was sent before. Without it, the sink sends `create` again, or nothing if `find` is set.',
    ),
  delete: request()
    .optional()
    .describe('Sent when the item is deleted, when `when` is no longer true, or when its attendee is forgotten.'),
  forget: request()
    .optional()
    .describe('Sent instead of `delete` when an attendee is forgotten with `onForget: clear-our-fields`.'),
});

const acceptRule = z.strictObject({
  when: expression().describe(
    'True for the responses that the rule is about: reads `status`, `body`, `headers`, `request`.',
  ),
  outcome: oneOf(['delivered', 'retry', 'rejected', 'pause', 'missing']).describe(
    'What such a response means. `missing`: the record no longer exists and is created again.',
  ),
  cause: expression()
    .optional()
    .describe('A short code that groups dead letters, such as `body.error.type`; never a text of the item.'),
  after: duration({ minMs: 1000, maxMs: 24 * 60 * 60 * 1000 })
    .optional()
    .describe('`retry`: the wait if the response has no Retry-After.'),
  detail: nonEmptyText('a sentence').optional().describe('A sentence for people: what to do about it.'),
});

export const userKeys = z.strictObject({
  preset: nonEmptyText('the name of a preset')
    .optional()
    .describe('A vendor with prepared requests: sets the keys below. Your keys replace those of the preset.'),
  baseUrl: baseUrl().optional().describe('The address of the receiver. The sink calls no other host.'),
  allowPrivateAddresses: z
    .boolean({ error: 'allowed: true or false' })
    .optional()
    .describe('Whether this sink may connect to loopback and private networks, over http too; `false` by default.'),
  auth: auth.optional().describe('Credentials.'),
  headers: headers().optional().describe('Headers of every request.'),
  revisions: oneOf(['latest', 'every'])
    .optional()
    .describe('`latest` (default) sends the current state of an item, `every` each of its changes, as a log.'),
  batch: z
    .strictObject({
      size: wholeNumber({ min: 1, max: 1000, unit: 'items' })
        .optional()
        .describe('Items in one request; 1 by default.'),
      maxAge: duration({ minMs: 1000, maxMs: 60 * 60 * 1000 })
        .optional()
        .describe('The time that an item waits for others to fill its request. By default it does not wait.'),
    })
    .optional()
    .describe('Several items in one request, for requests that have `batch`.'),
  maxBytes: wholeNumber({ min: 1, max: 16_777_216, unit: 'bytes' })
    .optional()
    .describe('The largest body that the receiver accepts; 1 MiB by default.'),
  idempotencyHeader: headerName()
    .optional()
    .describe('A header with a key that is the same each time a request is repeated, such as Idempotency-Key.'),
  accept: z
    .array(acceptRule, { error: 'allowed: a list of rules' })
    .optional()
    .describe('The meaning of responses: the first rule that is true decides, or else the HTTP status.'),
  results: expression()
    .optional()
    .describe(
      'A list with the outcome of each item of the request: a word as in `accept`, or `{ outcome, id, cause }`.',
    ),
  check: z
    .strictObject(requestShape)
    .optional()
    .describe('A request that changes nothing, with which `pigeonpost check` tests the credentials.'),
  records: z
    .array(records, { error: 'allowed: a list of records' })
    .min(1, { error: 'allowed: at least one record' })
    .optional()
    .describe('The requests for each list.'),
});

export type UserKeys = z.output<typeof userKeys>;
type WrittenKeys = z.input<typeof userKeys>;
export type RecordTemplate = NonNullable<UserKeys['records']>[number];

/** Maximum numbers of requests in any period of these lengths. */
interface VendorLimits {
  /** Prevents a burst, for vendors that count by the second. The sink's own `limits.per10s` replaces it as well. */
  readonly perSecond?: number;
  readonly per10s?: number;
  readonly perDay?: number;
}

/**
 * A vendor's requests as data. `settings` and `record` use only the keys of docs/configuration.md ("Sinks of type
 * http"), so users can do in pigeonpost.yaml whatever a preset does. sinks/http/README.md explains how to add a preset.
 */
export interface Preset {
  /** Defaults of the sink's keys. Its `records` are used if the user writes none. */
  readonly settings: WrittenKeys;
  /** Defaults of every entry of `records`. */
  readonly record?: NonNullable<WrittenKeys['records']>[number];
  readonly limits?: VendorLimits;
}
