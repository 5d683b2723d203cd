/** Sends a request to a control API, of the sandbox or a receiver. @throws with the answer if it is refused */
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
