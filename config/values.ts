import { dayStartMs } from '../base/instant.js';
import { isLoopback } from '../base/loopback.js';
import { z } from 'zod';
import type { JsonSchema } from './parse-tree.js';
import { Secret } from './secret.js';

/**
 * Value types of pigeonpost.yaml, for the schemas here and of the sink types.
 *
 * If a message begins with `allowed: `, the loader completes it to `found "5x", allowed: …`, or to `is missing,
 * allowed: …`. Any other message is printed unchanged. docs/configuration.md shows the same text from `allowed` in the
 * schema's metadata. No message of a schema repeats a value, because the value may be a secret at the wrong key.
 */

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Parses a duration such as `5s`, `30m`, `6h`, `400d` or `500ms`; undefined if it is invalid. Fractions are refused:
 * use a smaller unit.
 */
export function parseDurationMs(text: string): number | undefined {
  const match = /^(\d{1,16})(ms|s|m|h|d)$/.exec(text);
  if (match === null) return undefined;
  const durationMs = Number(match[1]) * unitMs[match[2] as keyof typeof unitMs];
  return Number.isSafeInteger(durationMs) ? durationMs : undefined;
}

/** Formats a duration with the largest unit that divides it: 5000 becomes `5s`. The inverse of parseDurationMs. */
export function formatDuration(durationMs: number): string {
  const unit =
    (['d', 'h', 'm', 's'] as const).find((name) => durationMs > 0 && durationMs % unitMs[name] === 0) ?? 'ms';
  return `${durationMs / unitMs[unit]}${unit}`;
}

/** A duration in milliseconds, by default from 1 ms to 3650 d. */
export function duration({ minMs = 1, maxMs = 3650 * unitMs.d }: { minMs?: number; maxMs?: number } = {}) {
  const kind = 'a duration such as 5s, 30m, 6h';
  const range = `a duration from ${formatDuration(minMs)} to ${formatDuration(maxMs)}`;
  return z
    .string({ error: `allowed: ${kind}` })
    .transform((found, context): number => {
      const durationMs = parseDurationMs(found);
      if (durationMs !== undefined && durationMs >= minMs && durationMs <= maxMs) return durationMs;
      const allowed = durationMs === undefined ? kind : range;
      context.issues.push({ code: 'custom', input: found, message: `allowed: ${allowed}` });
      return z.NEVER;
    })
    .meta({ allowed: range, published: { pattern: String.raw`^\d{1,16}(ms|s|m|h|d)$` } });
}

/** A polling interval: at least one second, to protect the quota; at most 30 days, because more is a mistake. */
export const interval = () => duration({ minMs: unitMs.s, maxMs: 30 * unitMs.d });

/** A percentage such as `5%` or `0.5%`; the result is a share from 0 to 1. */
export const percent = () =>
  text(
    'a percentage from 0% to 100%, such as 5%',
    (found) => {
      const share = percentage.test(found) ? Number(found.slice(0, -1)) / 100 : Number.NaN;
      return share >= 0 && share <= 1 ? share : undefined;
    },
    percentage,
  );

const percentage = /^\d{1,3}(?:\.\d{1,4})?%$/;

/**
 * A secret. It must come from the environment or a file: a literal in pigeonpost.yaml is refused, because such files
 * are copied, mailed and committed.
 */
export const secret = () =>
  z
    .instanceof(Secret, {
      error: ({ input }) =>
        input === undefined
          ? 'allowed: a secret, written as ${NAME} or ${file:/path}'
          : typeof input === 'object'
            ? 'allowed: one secret, written as ${NAME} or ${file:/path}'
            : 'a secret must not be in this file: put it into an environment variable and write ${NAME} here, or into a file and write ${file:/path}',
    })
    .refine((found) => !(found instanceof Secret) || !isQuoted(found.reveal()), {
      error:
        'allowed: a secret without quotation marks around it: remove them where the variable or the file is written',
    })
    .meta({ allowed: 'a secret, written as `${NAME}` or `${file:/path}`', secret: true });

/**
 * Whether a text is in quotation marks, which `docker run --env-file` and secret files keep, unlike a shell. A server
 * would refuse such a key, or take it for another one.
 */
function isQuoted(text: string): boolean {
  return /^(["'`])[^]*\1$/.test(text.trim()) && text.trim().length > 1;
}

/**
 * A secret that is sent in a header or compared with one, such as an API key or a token. Secret files and copied keys
 * often end with a line break, which would make every request fail. The text is refused and not trimmed, because
 * programs that trim differently would have different secrets.
 */
export const headerSecret = () =>
  secret().refine((found) => !(found instanceof Secret) || /^[\x21-\x7e]+$/.test(found.reveal()), {
    error: 'allowed: a secret of printable ASCII characters without spaces, tabs or line breaks, not even at its end',
  });

/**
 * The base URL of a service, without a slash at its end. https, or http for loopback. Refuses user and password
 * (secrets need a key of their own), query and fragment (paths are appended).
 */
export const baseUrl = () => address((url) => url);

/**
 * Like `baseUrl`, for a sink: also accepts http off loopback. The sink's schema adds `plainHttpStaysPrivate`
 * (sinks/network/address-policy.ts), which refuses that where private addresses are not allowed.
 */
export const sinkUrl = () =>
  address((url) => url, {
    allowed:
      'an https address such as https://lms.example.com (http for loopback, or together with allowPrivateAddresses), without user, query or fragment',
    httpAnywhere: true,
  });

/** Like `baseUrl`, for the service: removes `/v2`, which every request adds. */
export const serviceUrl = () => address((url) => withoutSlash(url.replace(/\/v2$/, '')));

const address = (
  cleaned: (url: string) => string,
  {
    allowed = 'an https address such as https://engagement.example.com (http only for loopback), without user, query or fragment',
    httpAnywhere = false,
  } = {},
) =>
  text(
    allowed,
    (found) => {
      if (!URL.canParse(found)) return undefined;
      const url = new URL(found);
      const mayBePlain = httpAnywhere || isLoopback(url.hostname);
      const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && mayBePlain);
      // not url.search, which is '' for an empty query: the ? would end up in the middle of every URL
      if (!isAllowed || url.username !== '' || url.password !== '' || /[?#]/.test(found)) return undefined;
      return cleaned(withoutSlash(url.href));
    },
    /^\s*[Hh][Tt][Tt][Pp][Ss]?:/,
  );

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/** The path of a folder as written. Callers resolve it against the folder of pigeonpost.yaml. */
export const folder = () => text('the path of a folder', (found) => (isPath(found) ? found : undefined));

/** The path of a file as written. Callers resolve it against the folder of pigeonpost.yaml. */
export const filePath = () => text('the path of a file', (found) => (isPath(found) ? found : undefined));

const isPath = (found: string) => found.trim() !== '' && !found.includes('\0');

const nameAllowed = 'letters a-z, digits and -, at most 63 characters, such as acme-2026';

/** The name of a workspace, sync or sink. It is an identity in the ledger and part of workflow ids and file names. */
export const name = () =>
  z
    .string({ error: `allowed: ${nameAllowed}` })
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, { error: `allowed: ${nameAllowed}` })
    .meta({ allowed: nameAllowed });

/** A group of at least one `what`, each under its name. */
export function namedGroup<Value extends z.ZodType>(what: string, value: Value) {
  return z
    .record(name(), value, { error: ifNotGroup(`a group of ${what}s, each under its name`) })
    .refine((group) => Object.keys(group).length > 0, { error: `allowed: at least one ${what}` });
}

/** Returns the `error` of a group: what is allowed if the value is not a group. */
export function ifNotGroup(allowed: string) {
  return ({ code }: z.core.$ZodRawIssue) => (code === 'invalid_type' ? `allowed: ${allowed}` : undefined);
}

/** A text that is not blank. `what` completes `allowed: `, e.g. `the name of a namespace`. */
export const nonEmptyText = (what = 'a text') => text(what, (found) => (found.trim() === '' ? undefined : found));

/** One of a few words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  const allowed = words.length === 1 ? words[0] : `one of ${words.join(', ')}`;
  return z.enum(words, { error: `allowed: ${allowed}` }).meta({ allowed });
}

/** A whole number from `min` to `max`, both included. */
export function wholeNumber({ min, max, unit = '' }: { min: number; max: number; unit?: string }) {
  const allowed = `a whole number${unit === '' ? '' : ` of ${unit}`} from ${min} to ${max}`;
  const isAllowed = (found: number) => Number.isInteger(found) && found >= min && found <= max;
  return number(allowed, isAllowed, { type: 'integer', minimum: min, maximum: max });
}

/** An id of the service. */
export const identifier = () =>
  number('an id such as 101', (found) => Number.isSafeInteger(found) && found > 0, { type: 'integer', minimum: 1 });

function number(allowed: string, isAllowed: (found: number) => boolean, published: JsonSchema) {
  const error = `allowed: ${allowed}`;
  return z.number({ error }).refine(isAllowed, { error }).meta({ allowed, published });
}

/** A day as YYYY-MM-DD that exists. */
export const day = () =>
  text(
    'a day such as 2026-01-31',
    (found) => (dayStartMs(found) === undefined ? undefined : found),
    /^\d{4}-\d{2}-\d{2}$/,
  );

/** The source of a valid JavaScript regular expression without flags. */
export const regularExpression = () =>
  text('a regular expression such as "^ACME "', (found) => {
    try {
      return found !== '' && new RegExp(found) ? found : undefined;
    } catch {
      return undefined; // a SyntaxError
    }
  });

/** A list without duplicates. */
export function listOf<Item extends z.ZodType>(
  item: Item,
  { allowed, atLeast = 1 }: { allowed: string; atLeast?: number },
) {
  return z
    .array(item, { error: `allowed: ${allowed}` })
    .min(atLeast, { error: `allowed: ${allowed}` })
    .refine((items) => new Set(items).size === items.length, {
      error: `the same entry is written twice; allowed: ${allowed}`,
    })
    .meta({ allowed, published: { uniqueItems: true } });
}

/**
 * A text that `read` converts; undefined means that it is not allowed.
 * @param form matches all allowed texts, so that an editor can point out others
 */
export function text<Result>(allowed: string, read: (found: string) => Result | undefined, form?: RegExp) {
  return z
    .string({ error: `allowed: ${allowed}` })
    .transform((found, context): Result => {
      const result = read(found);
      if (result !== undefined) return result;
      context.issues.push({ code: 'custom', input: found, message: `allowed: ${allowed}` });
      return z.NEVER;
    })
    .meta({ allowed, ...(form === undefined ? {} : { published: { pattern: form.source } }) });
}

export const signingSecretForm = 'a secret of the form whsec_… (base64 of 24 to 64 bytes)';

/** A secret that signs requests according to Standard Webhooks. */
export const signingSecret = () =>
  secret()
    .refine((found) => isSigningSecret(found.reveal()), {
      error: `allowed: ${signingSecretForm}, written as \${NAME} or \${file:/path}`,
    })
    .meta({ allowed: `${signingSecretForm}, written as \`\${NAME}\` or \`\${file:/path}\``, secret: true });

/** Source: standardwebhooks/standard-webhooks, spec/standard-webhooks.md, "Signature scheme". */
function isSigningSecret(found: string): boolean {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(found)?.[1];
  if (base64 === undefined || base64.length % 4 !== 0) return false;
  const { length } = Buffer.from(base64, 'base64');
  return length >= 24 && length <= 64;
}
