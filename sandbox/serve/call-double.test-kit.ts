/** An answer, parsed for assertions. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed JSON body, untyped because the test knows its shape; `undefined` if it is not JSON. */
  readonly json: any;
}

/** Sends one request, with an optional JSON body. @throws the error of fetch if the connection is closed */
export async function callDouble(
  url: string,
  request: { method?: string; token?: string; body?: unknown; headers?: Readonly<Record<string, string>> } = {},
): Promise<Answered> {
  const answer = await fetch(url, {
    method: request.method ?? (request.body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(request.token !== undefined && { authorization: `Bearer ${request.token}` }),
      ...(request.body !== undefined && { 'content-type': 'application/json' }),
      ...request.headers,
    },
    ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
    redirect: 'manual',
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, json: jsonOf(text) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
