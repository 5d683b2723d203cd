import { parsedObject } from '../json.js';
import type { DoubleAnswer } from '../serve/double-request.js';

/** Parameters as Rails parses them: strings, lists and nested objects. */
export interface Parameters {
  readonly [name: string]: Parameter;
}
type Parameter = string | readonly Parameter[] | Parameters;

/** A nested object. Any name is allowed as a key, `__proto__` included. */
type Tree = Record<string, unknown>;

/**
 * Parses a body of JSON or a form (`grade_data[3][posted_grade]=88`, `ids[]=1`). Converts JSON numbers and booleans to
 * strings.
 * @throws {CanvasRefusal} 400 for invalid JSON
 */
export function readParameters(contentType: string, body: string): Parameters {
  if (contentType.includes('application/json')) return fromJson(body);
  if (contentType.includes('application/x-www-form-urlencoded')) return fromPairs(new URLSearchParams(body));
  return {};
}

export function fromPairs(pairs: Iterable<readonly [string, string]>): Parameters {
  const tree: Tree = Object.create(null) as Tree;
  for (const [name, value] of pairs) {
    const [, first = name, rest = ''] = /^([^[]+)((?:\[[^\]]*\])*)$/.exec(name) ?? [];
    put(tree, [first, ...[...rest.matchAll(/\[([^\]]*)\]/g)].map((match) => match[1]!)], value);
  }
  return tree as Parameters;
}

function put(tree: Tree, [name = '', ...rest]: readonly string[], value: string): void {
  if (rest.length === 0) {
    tree[name] = value;
  } else if (rest[0] === '') {
    const list = (tree[name] ??= []);
    if (Array.isArray(list)) list.push(value);
  } else {
    const inner = (tree[name] ??= Object.create(null)) as Tree;
    if (typeof inner === 'object' && !Array.isArray(inner)) put(inner, rest, value);
  }
}

function fromJson(body: string): Parameters {
  const json = parsedObject(body);
  if (json === undefined) throw new CanvasRefusal(400, 'Error parsing JSON');
  return texts(json) as Parameters;
}

function texts(value: unknown): Parameter {
  if (Array.isArray(value)) return value.map(texts);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, texts(each)]));
  }
  return typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
}

/** Returns a string parameter; `undefined` if it is missing or has another type. */
export function text(parameters: Parameters, name: string): string | undefined {
  const value = parameters[name];
  return typeof value === 'string' ? value : undefined;
}

/** Returns an object parameter; empty if it is missing or has another type. */
export function nested(parameters: Parameters, name: string): Parameters {
  const value = parameters[name];
  return typeof value === 'object' && !Array.isArray(value) ? (value as Parameters) : {};
}

/** Returns a list of strings; empty if it is missing or has another type. */
export function list(parameters: Parameters, name: string): string[] {
  const value = parameters[name];
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}

/** A refusal of Canvas, as `{"errors": [{"message": …}]}`. */
export class CanvasRefusal extends Error {
  override readonly name = 'CanvasRefusal';

  constructor(
    readonly status: number,
    message: string,
    /** Also sent as `status` in the body. */
    readonly state?: 'unauthenticated' | 'unauthorized',
  ) {
    super(message);
  }

  answer(): DoubleAnswer {
    return {
      status: this.status,
      json: { ...(this.state !== undefined && { status: this.state }), errors: [{ message: this.message }] },
      ...(this.status === 401 && { headers: { 'WWW-Authenticate': 'Bearer realm="canvas-lms"' } }),
    };
  }
}

export function notFound(): CanvasRefusal {
  return new CanvasRefusal(404, 'The specified resource does not exist.');
}
