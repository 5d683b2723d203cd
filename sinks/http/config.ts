import { z } from 'zod';
import { nearestWord } from '../../config/nearest-word.js';
import type { Secret } from '../../config/secret.js';
import { mayReachPrivate, type NetworkKeys, plainHttpProblem } from '../network/address-policy.js';
import type { Grant } from '../rest/grants.js';
import { type authTypes, type Method, type Preset, type RecordTemplate, type UserKeys, userKeys } from './keys.js';
import { bigquery, segment, teams } from './presets/events.js';
import { airtable, marketo, moodle, pipedrive } from './presets/records.js';

/**
 * The keys of an `http` sink in pigeonpost.yaml, without those that all sinks share. They are merged with the preset
 * and have all defaults.
 */
export type HttpConfig = Readonly<NonNullable<ReturnType<typeof completeConfig>>>;

type Auth =
  | { readonly type: 'none' }
  | { readonly type: 'bearer'; readonly token: Secret }
  | { readonly type: 'basic'; readonly username: Secret; readonly password: Secret | undefined }
  | { readonly type: 'header' | 'parameter'; readonly name: string; readonly value: Secret }
  | { readonly type: 'oauth'; readonly tokenUrl: string; readonly grant: Grant };

export type RecordKeys = Readonly<NonNullable<ReturnType<typeof recordOf>>>;

export type RequestKeys = Readonly<ReturnType<typeof requestOf>>;

/** The request `find`. */
export type FindKeys = RequestKeys & Pick<NonNullable<RecordTemplate['find']>, 'holds'>;

export type Purpose = keyof typeof standardMethods;

export type AcceptRule = NonNullable<UserKeys['accept']>[number];

/** All presets, by the value of the key `preset`. */
export const allPresets: ReadonlyMap<string, Preset> = new Map(
  Object.entries({ airtable, bigquery, marketo, moodle, pipedrive, segment, teams }),
);

const defaultMaxBytes = 1024 * 1024;

/** Reads the keys, merges them with the preset, and reports missing keys. */
export const httpConfigSchema: z.ZodType<HttpConfig> = userKeys.transform((found, context): HttpConfig => {
  const problem = (path: readonly (string | number)[], message: string): void =>
    void context.issues.push({ code: 'custom', input: found, path: [...path], message });
  const config = completeConfig(found, problem);
  return config ?? z.NEVER;
}) as unknown as z.ZodType<HttpConfig>;

type TellProblem = (path: readonly (string | number)[], message: string) => void;

/** Merges the keys with the preset and with defaults. @returns undefined if a problem was reported */
function completeConfig(found: UserKeys, tell: TellProblem) {
  let problems = 0;
  const problem: TellProblem = (path, message) => {
    problems += 1;
    tell(path, message);
  };
  const preset = found.preset === undefined ? undefined : allPresets.get(found.preset);
  if (found.preset !== undefined && preset === undefined) {
    const names = [...allPresets.keys()];
    const nearest = nearestWord(found.preset, names);
    problem(['preset'], `allowed: ${names.join(', ')}${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`);
    return undefined;
  }
  // parsed again for each sink, because an expression stores its line in the file
  const filled = preset === undefined ? {} : userKeys.parse(preset.settings);
  const template = preset?.record === undefined ? {} : userKeys.parse({ records: [preset.record] }).records![0]!;
  const { records: written, ...keys } = merged<UserKeys>(filled, found);
  const records = (written ?? []).map((each, at) =>
    recordOf(merged<RecordTemplate>(template, each), (path, message) => problem(['records', at, ...path], message)),
  );
  if (written === undefined) problem(['records'], 'allowed: at least one record');
  const names = records.map((each) => each?.name);
  names.forEach((name, at) => {
    if (name !== undefined && names.indexOf(name) !== at)
      problem(['records', at, 'name'], 'this name is used twice; give each entry its own "name"');
  });
  if (keys.baseUrl === undefined) problem(['baseUrl'], 'allowed: an https address such as https://api.example.com/v1');
  checkScheme(['baseUrl'], keys.baseUrl, keys, problem);
  checkScheme(['auth', 'tokenUrl'], keys.auth?.tokenUrl, keys, problem);
  const auth = authOf(keys.auth ?? {}, problem);
  if (keys.revisions === 'every') checkLog(records, problem);
  if (problems > 0 || auth === undefined || keys.baseUrl === undefined) return undefined;
  return {
    preset: found.preset,
    /** A Secret if the file refers to a variable, because the address may contain a token. */
    baseUrl: keys.baseUrl,
    allowPrivateAddresses: keys.allowPrivateAddresses ?? false,
    auth,
    headers: keys.headers ?? {},
    revisions: keys.revisions ?? 'latest',
    batch: { size: keys.batch?.size ?? 1, maxAgeMs: keys.batch?.maxAge ?? 0 },
    maxBytes: keys.maxBytes ?? defaultMaxBytes,
    idempotencyHeader: keys.idempotencyHeader,
    accept: keys.accept ?? [],
    results: keys.results,
    check: keys.check === undefined ? undefined : requestOf(keys.check, 'GET'),
    records: records.filter((each) => each !== undefined),
    /** The vendor's limits, from the preset; `limits` of the sink replaces them. */
    limits: preset?.limits,
  };
}

function checkScheme(
  at: readonly string[],
  address: string | Secret | undefined,
  keys: NetworkKeys,
  problem: TellProblem,
): void {
  if (address === undefined) return;
  const url = new URL(typeof address === 'string' ? address : address.reveal());
  if (url.protocol !== 'https:' && !mayReachPrivate(url, keys)) problem(at, plainHttpProblem);
}

const standardMethods = { find: 'GET', create: 'POST', update: 'PATCH', delete: 'DELETE', forget: 'PATCH' } as const;

function recordOf(keys: RecordTemplate, problem: TellProblem) {
  const { from, create, find, on = ['create', 'update', 'delete'] } = keys;
  if (from === undefined) problem(['from'], 'allowed: the name of a list such as questions');
  if (create === undefined) problem(['create'], 'allowed: a request, such as { body: properties }');
  if (find !== undefined && find.idFrom === undefined) problem(['find', 'idFrom'], 'allowed: an expression for the id');
  for (const name of keys.requires ?? []) {
    if (keys.properties?.[name] === undefined) problem(['properties', name], 'allowed: a JSONata expression');
  }
  if (from === undefined || create === undefined) return undefined;
  const made = (purpose: Purpose, written = keys[purpose]): RequestKeys | undefined =>
    written === undefined ? undefined : requestOf(written, standardMethods[purpose]);
  return {
    name: keys.name ?? from,
    from,
    when: keys.when,
    properties: keys.properties ?? {},
    requires: keys.requires ?? [],
    find: on.includes('create') ? findOf(find) : undefined,
    create: on.includes('create') ? made('create') : undefined,
    update: on.includes('update') ? (made('update') ?? (find === undefined ? made('create') : undefined)) : undefined,
    delete: on.includes('delete') ? made('delete') : undefined,
    forget: made('forget'),
  };
}

function findOf(keys: RecordTemplate['find']): FindKeys | undefined {
  return keys === undefined ? undefined : { ...requestOf(keys, standardMethods.find), holds: keys.holds };
}

function requestOf(keys: NonNullable<RecordTemplate['create']>, method: Method) {
  const { headers = {}, encoding = 'json' } = keys;
  return { ...keys, method: keys.method ?? method, headers, encoding };
}

/** Checks the keys of a log (`revisions: every`). It receives events and has no records to find or update. */
function checkLog(records: readonly (RecordKeys | undefined)[], problem: TellProblem): void {
  records.forEach((record, at) => {
    if (record?.find !== undefined) problem(['records', at, 'find'], 'is not for "revisions: every"; remove it');
    if (record?.create?.idFrom !== undefined)
      problem(['records', at, 'create', 'idFrom'], 'is not for "revisions: every"; remove it');
  });
}

type AuthKeys = NonNullable<UserKeys['auth']>;

const needed: Readonly<Record<(typeof authTypes)[number], readonly (keyof AuthKeys)[]>> = {
  none: [],
  bearer: ['token'],
  basic: ['username'],
  header: ['name', 'value'],
  parameter: ['name', 'value'],
  'client-credentials': ['tokenUrl', 'clientId', 'clientSecret'],
  'jwt-bearer': ['tokenUrl', 'privateKey', 'claims'],
};

function authOf(keys: AuthKeys, problem: TellProblem): Auth | undefined {
  const { type = 'none', username, password, token, name, value, tokenUrl, scope } = keys;
  const missing = needed[type].filter((key) => keys[key] === undefined);
  for (const key of missing) problem(['auth', key], `is missing: "type: ${type}" needs it`);
  if (missing.length > 0) return undefined;
  switch (type) {
    case 'none':
      return { type };
    case 'bearer':
      return { type, token: token! };
    case 'basic':
      return { type, username: username!, password };
    case 'header':
    case 'parameter':
      return { type, name: name!, value: value! };
    case 'client-credentials': {
      const { clientId, clientSecret, clientAuthentication, audience, resource } = keys;
      const authentication = clientAuthentication ?? 'client_secret_basic';
      const client = { clientId: clientId!, clientSecret: clientSecret!, authentication };
      return { type: 'oauth', tokenUrl: tokenUrl!, grant: { kind: type, ...client, scope, audience, resource } };
    }
    case 'jwt-bearer': {
      const { privateKey, claims, keyId } = keys;
      const signed = { privateKey: privateKey!, claims: claims!, keyId };
      return { type: 'oauth', tokenUrl: tokenUrl!, grant: { kind: type, ...signed, scope } };
    }
  }
}

/**
 * Merges values with defaults, key by key, also within groups. A value replaces the default, and a list replaces the
 * whole default list. A Secret or an Expression counts as one value.
 */
function merged<Keys extends object>(defaults: Partial<Keys>, values: Keys): Keys {
  const result: Record<string, unknown> = { ...defaults };
  for (const [key, value] of Object.entries(values)) {
    const below = result[key];
    if (value !== undefined) result[key] = isGroup(below) && isGroup(value) ? merged(below, value) : value;
  }
  return result as Keys;
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
