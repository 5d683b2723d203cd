/** Asks a control API (the sandbox's or a receiver's) for something. @throws with its answer when it refuses */
export async function control<T = unknown>(
  baseUrl: string,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<T> {
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  const answer = await fetch(new URL(`/_control/${path}`, baseUrl), init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} /_control/${path} is answered with HTTP ${answer.status}: ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}
