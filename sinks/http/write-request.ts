import { FailedMapping } from '../mapping/mapping-error.js';
import type { Expression, MappingView } from '../mapping/expression.js';
import { nodesOf, type SyntaxNode } from '../mapping/check-syntax.js';
import type { RequestKeys } from './config.js';
import { type Method, methods } from './keys.js';

/** The data that the expressions of a request can read. */
export interface RequestView extends MappingView {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly record: { readonly id: string | number | undefined };
}

/**
 * A planned request. It contains neither the base address nor credentials, so that a preview can show it. In a batch,
 * it is one item's part of the request.
 */
export interface PlannedRequest {
  readonly method: Method;
  /** Appended to `baseUrl`; may be empty. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly encoding: 'json' | 'form';
  /** Absent if there is no body. In a batch, the item's part of the body. */
  readonly body?: unknown;
}

/**
 * Evaluates the expressions of a request for one item.
 * @param key the request's path in the configuration, such as `crm.records[0].create`
 * @throws {MappingError}
 */
export async function writeRequest(
  keys: RequestKeys,
  common: Readonly<Record<string, Expression>>,
  view: RequestView,
  key: string,
): Promise<PlannedRequest> {
  const headers: Record<string, string> = {};
  for (const [name, expression] of Object.entries({ ...common, ...keys.headers })) {
    const value = await expression.evaluate(view, `${key}.headers.${name}`, headerValue);
    if (value !== undefined) headers[name] = value;
  }
  const body = await keys.body?.evaluate(view, `${key}.body`);
  return {
    method:
      typeof keys.method === 'string' ? keys.method : await keys.method.evaluate(view, `${key}.method`, methodValue),
    url: (await keys.url?.evaluate(view, `${key}.url`, urlReader(keys.url))) ?? '',
    headers,
    encoding: keys.encoding,
    ...(body !== undefined && { body }),
  };
}

/** Whether an expression of the request reads the id of the record. */
export function needsId({ method, url, headers, body }: RequestKeys): boolean {
  return [method, url, body, ...Object.values(headers)].some(
    (each) => typeof each === 'object' && [...nodesOf(each.tree)].some(isRecord),
  );
}

function isRecord({ type, steps }: SyntaxNode): boolean {
  return type === 'path' && steps?.[0]?.type === 'name' && steps[0].value === 'record';
}

function headerValue(value: unknown, key: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  if (typeof text === 'string' && /^[\x20-\x7e]*$/.test(text)) return text;
  throw new FailedMapping(
    key,
    'not-a-header',
    'returned a value that a header cannot contain: it must be ASCII without line breaks',
  );
}

function methodValue(value: unknown, key: string): Method {
  const found = methods.find((each) => each === value);
  if (found !== undefined) return found;
  throw new FailedMapping(key, 'not-a-method', `returned no method: it must be one of ${methods.join(', ')}`);
}

/**
 * Returns a reader that checks the value of `url`. It refuses empty path segments, except an empty last segment (a
 * slash at the end) that the expression contains as text. An empty computed part would change the address: without an
 * id, `"/people/" & id` is the address of all people.
 */
const urlReader =
  (expression: Expression) =>
  (value: unknown, key: string): string => {
    if (value === undefined || value === null || value === '') return '';
    const [path = ''] = typeof value === 'string' ? value.split('?') : [];
    const isAppendable =
      typeof value === 'string' && /^[/?][\x21\x23-\x5b\x5d\x5f-\x7e]*$/.test(value) && !value.includes('#');
    const segments = path
      .split('/')
      .slice(1)
      .map((each) => each.replaceAll(/%2e/gi, '.'));
    if (!isAppendable || segments.some((each) => each === '.' || each === '..')) {
      const what =
        'returned no path: it must return a text that begins with / or ?; write values as $encodeUrlComponent(value)';
      throw new FailedMapping(key, 'not-a-path', what);
    }
    const inner = segments.slice(0, -1);
    if (inner.includes('') || (segments.at(-1) === '' && !endsInText(expression.tree))) {
      throw new FailedMapping(
        key,
        'empty-path-segment',
        'returned a path with an empty part: a value in it is missing',
      );
    }
    return value;
  };

/** Whether the expression contains the end of the path as text, as in `"/a/" & b & "/?c=" & d`. */
function endsInText(tree: SyntaxNode): boolean {
  const operands = operandsOf(tree);
  const queryAt = operands.findIndex(({ type, value }) => type === 'string' && String(value).includes('?'));
  const startsQuery = queryAt !== -1 && String(operands[queryAt]!.value).startsWith('?');
  const last = queryAt === -1 ? operands.at(-1) : operands[startsQuery ? queryAt - 1 : queryAt];
  return last?.type === 'string';
}

function operandsOf(node: SyntaxNode & { readonly lhs?: unknown; readonly rhs?: unknown }): SyntaxNode[] {
  if (node.type !== 'binary' || node.value !== '&') return [node];
  return [...operandsOf(node.lhs as SyntaxNode), ...operandsOf(node.rhs as SyntaxNode)];
}

/** Returns the complete address. @param url the `url` that `writeRequest` returned */
export function addressOf(baseUrl: string, url: string): URL {
  const address = new URL(baseUrl);
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  const query = mark === -1 ? '' : url.slice(mark + 1);
  if (path !== '') address.pathname = `${address.pathname.replace(/\/$/, '')}${path}`;
  if (query !== '') address.search = [address.search.replace(/^\?/, ''), query].filter((part) => part !== '').join('&');
  return address;
}

export function bodyText(body: unknown, encoding: 'json' | 'form'): string {
  return encoding === 'json' ? JSON.stringify(body) : formOf(body).toString();
}

/**
 * Encodes a body as a form in the style of PHP and Rails: `{ grades: [{ id: 7 }] }` becomes `grades[0][id]=7`. Leaves
 * out null values.
 */
function formOf(body: unknown): URLSearchParams {
  const form = new URLSearchParams();
  const add = (name: string, value: unknown): void => {
    if (value === null || value === undefined) return;
    if (typeof value === 'object') {
      for (const [key, below] of Object.entries(value)) add(name === '' ? key : `${name}[${key}]`, below);
    } else form.append(name, String(typeof value === 'boolean' ? Number(value) : (value as string | number)));
  };
  add('', body);
  return form;
}
