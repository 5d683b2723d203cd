import type { AnswerAt, AskedAt, PathOf } from '../../api/routes.js';
import { filledAddress } from '../../base/api-client.js';
import {
  connection,
  noteLost,
  noteReached,
  noteTokenWanted,
  storedToken,
  storeToken,
  learnServerTime,
} from './page-state.js';

/** A problem that the API reports. */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    readonly status: number,
    message: string,
    readonly requestId: string | null,
  ) {
    super(message);
  }
}

/** Returns the API's sentence; the other one for an error that is not from the API. */
export function refusalOf(error: unknown, otherwise: string): string {
  return error instanceof Problem ? error.message : otherwise;
}

/** Timeout of a response. Without one, the page would notice a dead connection only after minutes. */
const patienceMs = 30_000;

interface Request {
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged. */
  readonly file?: Blob;
  readonly signal?: AbortSignal;
  /** Timeout of the response; 30 s by default. */
  readonly patienceMs?: number;
}

/**
 * Sends a request to the API. Paths are relative, so that the page also works behind a proxy that adds a path prefix.
 * @throws {Problem} if the API refuses the request; its status is 0 if the API cannot be reached
 */
export async function askFor(path: string, request: Request = {}): Promise<Response> {
  const headers: Record<string, string> = {};
  const token = storedToken();
  if (token !== null) headers['Authorization'] = `Bearer ${token}`;
  if (request.json !== undefined) headers['Content-Type'] = 'application/json';
  if (request.file !== undefined) headers['Content-Type'] = 'application/octet-stream';
  const isSent = request.json !== undefined || request.file !== undefined;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), request.patienceMs ?? patienceMs);
  let answer: Response;
  try {
    answer = await fetch(`.${path}`, {
      method: isSent ? 'POST' : 'GET',
      headers,
      ...(isSent ? { body: request.file ?? JSON.stringify(request.json) } : {}),
      signal: AbortSignal.any([late.signal, ...(request.signal === undefined ? [] : [request.signal])]),
    });
  } catch (error) {
    if (request.signal?.aborted === true) throw error;
    noteLost('the server cannot be reached');
    throw new Problem(0, 'pigeonpost cannot be reached', null);
  } finally {
    clearTimeout(timer);
  }
  learnServerTime(answer.headers.get('date'));
  if (answer.ok) {
    if (token === storedToken()) noteReached(); // an answer to a token that was refused since says nothing
    return answer;
  }
  throw await problemOf(answer, token);
}

type Limits = Pick<Request, 'signal' | 'patienceMs'>;

/** Requests an address. Parameters and answer have the types of the API's route. */
export async function get<Path extends PathOf<'get'>>(
  path: Path,
  asked: AskedAt<'get', Path>,
  limits: Limits = {},
): Promise<AnswerAt<'get', Path>> {
  return await ask(filledAddress(path, asked), limits);
}

/** Sends JSON to an address, like `get`. */
export async function post<Path extends PathOf<'post'>>(
  path: Path,
  asked: AskedAt<'post', Path>,
  limits: Limits = {},
): Promise<AnswerAt<'post', Path>> {
  return await ask(filledAddress(path, asked), { json: (asked as { readonly json: unknown }).json, ...limits });
}

/** Sends a request to the API and parses the JSON response. */
export async function ask<Answer>(path: string, request: Request = {}): Promise<Answer> {
  const answer = await askFor(path, request);
  return (await answer.json()) as Answer;
}

async function problemOf(answer: Response, token: string | null): Promise<Problem> {
  const body = (await answer.json().catch(() => ({}))) as { readonly detail?: string };
  const detail = body.detail ?? `the server answered with HTTP ${answer.status}`;
  if (answer.status === 401) {
    if (token === storedToken()) storeToken(null); // an invalid token would be used instead of the session of a sign-in link
    const wasRefused = connection.value.state === 'token' && connection.value.refused;
    noteTokenWanted(token !== null || wasRefused);
  } else if (answer.status === 503 || answer.status === 502 || answer.status === 504) noteLost(detail);
  else noteReached();
  return new Problem(answer.status, detail, answer.headers.get('x-request-id'));
}

/** Saves the body of a response as a file. A link cannot do this, because it cannot send the token. */
export async function saveFile(answer: Response, name: string): Promise<void> {
  const address = URL.createObjectURL(await answer.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
