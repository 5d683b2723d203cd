import { randomUUID } from 'node:crypto';

/** An LRS from the viewpoint of a client. */
export interface LrsTarget {
  readonly endpoint: string;
  readonly username: string;
  readonly password: string;
  /** The xAPI version; 1.0.3 by default. */
  readonly version?: string;
  /** An `Authorization` header that the LRS must refuse; by default, the account with a wrong password. */
  readonly refusedAuthorization?: string;
}

export interface LrsAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON body, or its text. */
  readonly body: unknown;
}

interface LrsRequest {
  readonly method?: 'GET' | 'POST';
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Replace the default headers; undefined removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** Sends one HTTP request to an LRS. `path` is relative to the endpoint. */
export async function askLrs(target: LrsTarget, path: string, request: LrsRequest = {}): Promise<LrsAnswer> {
  const headers: Record<string, string | undefined> = {
    authorization: basicAuthorization(target),
    'x-experience-api-version': target.version ?? '1.0.3',
    ...(request.body !== undefined && { 'content-type': 'application/json' }),
    ...request.headers,
  };
  const sent = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const query = new URLSearchParams(request.query).toString();
  const response = await fetch(`${target.endpoint}${path}${query === '' ? '' : `?${query}`}`, {
    method: request.method ?? (request.body === undefined ? 'GET' : 'POST'),
    headers: sent,
    ...(request.body !== undefined && {
      body: typeof request.body === 'string' ? request.body : JSON.stringify(request.body),
    }),
  });
  const text = await response.text();
  try {
    return { status: response.status, headers: response.headers, body: JSON.parse(text) as unknown };
  } catch {
    return { status: response.status, headers: response.headers, body: text };
  }
}

export function basicAuthorization({ username, password }: LrsTarget): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** Returns a valid statement with a new id; `changes` replace its properties. */
export function aStatement(changes: Readonly<Record<string, unknown>> = {}): { id: string } & Record<string, unknown> {
  return {
    id: randomUUID(),
    actor: { objectType: 'Agent', account: { homePage: 'https://example.com', name: 'A-17' } },
    verb: { id: 'http://adlnet.gov/expapi/verbs/asked', display: { en: 'asked' } },
    object: {
      objectType: 'Activity',
      id: 'https://example.com/questions/1',
      definition: { type: 'http://activitystrea.ms/schema/1.0/question', name: { en: 'A question' } },
    },
    timestamp: '2026-11-21T09:00:00.000Z',
    ...changes,
  };
}

/** Returns a statement that voids another. */
export function aVoiding(target: string): { id: string } & Record<string, unknown> {
  return aStatement({
    verb: { id: 'http://adlnet.gov/expapi/verbs/voided', display: { en: 'voided' } },
    object: { objectType: 'StatementRef', id: target },
  });
}
