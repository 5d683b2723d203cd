import type { DoubleRequest } from '../serve/double-request.js';
import { SlackRefusal } from './slack-refusal.js';

export type Arguments = Readonly<Record<string, unknown>>;

/**
 * A method's arguments from query, form or JSON, as https://docs.slack.dev/apis/web-api/#post_bodies tells: JSON comes
 * with its own content type, and only to methods that take it; in a form, objects are JSON in a string.
 * @throws {SlackRefusal} for a body that is not what its content type says
 */
export function readArguments(request: DoubleRequest, takesJson: boolean): Arguments {
  const fromQuery = Object.fromEntries(request.query);
  if (request.method === 'GET') return fromQuery;
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type === undefined) {
    if (request.body === '') return fromQuery;
    throw new SlackRefusal('missing_post_type');
  }
  if (type === 'application/x-www-form-urlencoded') {
    return { ...fromQuery, ...Object.fromEntries(new URLSearchParams(request.body)) };
  }
  if (type !== 'application/json') throw new SlackRefusal('invalid_post_type');
  if (!takesJson) return fromQuery; // the body of such a method is ignored
  return { ...fromQuery, ...jsonObject(request.body) };
}

function jsonObject(body: string): Arguments {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new SlackRefusal('invalid_json');
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new SlackRefusal('json_not_object');
  return json as Arguments;
}

/** An argument that holds JSON, which a form gives as a string; undefined when it is absent, empty or null. */
export function structured(value: unknown, refuse: () => SlackRefusal): unknown {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    throw refuse();
  }
}

/** `true`, `"true"`, `1` and `"1"` are true, as Slack reads them. */
export function truthy(value: unknown): boolean {
  return value === true || value === 'true' || value === 1 || value === '1';
}

/** A string argument; numbers are taken as their text, as a form could not tell them apart. */
export function textArgument(args: Arguments, name: string): string | undefined {
  const value = args[name];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
