import { isObject } from '../json.js';
import type { DoubleRequest } from './double-request.js';

/** Allowed contents of one kind of request. All other contents are violations. */
export interface RequestRule {
  readonly method: string;
  /** Matches the path as it was sent, without the query. */
  readonly path: RegExp;
  /** Query parameters; none by default. */
  readonly query?: readonly Name[];
  /** Headers other than those that HTTP clients add on their own; none by default, not even `authorization`. */
  readonly headers?: readonly Name[];
  /** Keys of a JSON body. Without `json`, `form` and `bytes`, the request has no body. */
  readonly json?: Shape;
  /** Parameters of a form body. */
  readonly form?: readonly Name[];
  /** The body has a format of its own, which the double checks. */
  readonly bytes?: boolean;
}

type Name = string | RegExp;

/**
 * Known keys of a JSON value: of an object, of each entry of a list, or `anything` for parts that a user maps. The key
 * `*` means every other key of its object.
 */
export type Shape = typeof anything | readonly [Shape] | { readonly [key: string]: Shape };

export const anything = true;

/** Headers that HTTP clients add on their own. */
const transportHeaders = [
  'accept',
  'accept-encoding',
  'accept-language',
  'connection',
  'content-length',
  'content-type',
  'host',
  'sec-fetch-mode',
  'transfer-encoding',
  'user-agent',
];

/**
 * Lists what a request carries beyond the rule that applies to it: parameters, headers, keys, a body, a content type,
 * or a credential in the address. Names only, never values. A request without a rule has no violations: the double
 * answers it as the vendor answers an unknown path.
 */
export function violationsOf(rules: readonly RequestRule[], request: DoubleRequest): string[] {
  const { method, path, query, headers } = request;
  const rule = rules.find((each) => each.method === method && each.path.test(path));
  if (rule === undefined) return [];
  const found = [
    ...[...query.keys()].filter((name) => !isNamed(rule.query, name)).map((name) => `query parameter ${name}`),
    ...Object.keys(headers)
      .filter((name) => !transportHeaders.includes(name) && !isNamed(rule.headers, name))
      .map((name) => `header ${name}`),
    ...(hasCredentialInAddress(request) ? ['credential in the address'] : []),
    ...bodyViolations(rule, request),
  ];
  return [...new Set(found)].map((what) => `${method} ${path}: ${what}`);
}

function isNamed(names: readonly Name[] = [], name: string): boolean {
  return names.some((each) => (typeof each === 'string' ? each === name : each.test(name)));
}

function hasCredentialInAddress({ path, query, headers }: DoubleRequest): boolean {
  const credential = headers['authorization']?.split(' ').at(-1);
  return credential !== undefined && credential !== '' && `${path}?${query.toString()}`.includes(credential);
}

function bodyViolations({ json, form, bytes = false }: RequestRule, { headers, body }: DoubleRequest): string[] {
  if (bytes) return [];
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (json === undefined && form === undefined) return body === '' ? [] : ['body'];
  if (json !== undefined && type === 'application/json') return jsonViolations(json, body);
  if (form !== undefined && type === 'application/x-www-form-urlencoded') {
    return [...new URLSearchParams(body).keys()]
      .filter((name) => !isNamed(form, name))
      .map((name) => `form parameter ${name}`);
  }
  return [`content type ${type ?? 'missing'}`];
}

function jsonViolations(shape: Shape, body: string): string[] {
  try {
    return unknownKeys(JSON.parse(body), shape, 'body');
  } catch {
    return ['body that is not JSON'];
  }
}

function unknownKeys(value: unknown, shape: Shape, at: string): string[] {
  if (shape === anything) return [];
  if (isList(shape)) {
    return Array.isArray(value) ? value.flatMap((each) => unknownKeys(each, shape[0], `${at}[]`)) : [`${at}: no list`];
  }
  if (!isObject(value)) return [`${at}: no object`];
  return Object.entries(value).flatMap(([key, each]) => {
    const known = Object.hasOwn(shape, key) ? shape[key] : shape['*'];
    return known === undefined ? [`key ${at}.${key}`] : unknownKeys(each, known, `${at}.${key}`);
  });
}

function isList(shape: Exclude<Shape, true>): shape is readonly [Shape] {
  return Array.isArray(shape);
}
