import type { IncomingMessage, ServerResponse } from 'node:http';
import { isListName } from '../list-name.js';
import { ControlError, control, tableOf, type Controlled } from './control-routes.js';
import { once } from 'node:events';
import { text as readText } from 'node:stream/consumers';
import type { AnyTable } from '../store/item-table.js';

const PREFIX = '/_control/';

export function isControlPath(path: string): boolean {
  return path.startsWith(PREFIX);
}

/** Serves one request under `/_control/`. Requests and answers are JSON; errors are `{"error": "…"}`. */
export async function serveControl(
  controlled: Controlled,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(incoming.url ?? '/', 'http://localhost');
  const method = incoming.method ?? 'GET';
  const path = url.pathname.slice(PREFIX.length);
  try {
    if (method === 'GET' && path.startsWith('truth/')) {
      await serveTruth(controlled, path.slice('truth/'.length), url.searchParams, response);
      return;
    }
    const body = await readJson(incoming);
    sendJson(response, 200, control(controlled, { method, path, query: url.searchParams, body }));
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    sendJson(response, error.status, { error: error.message });
  }
}

async function serveTruth(
  controlled: Controlled,
  list: string,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  if (!isListName(list))
    throw new ControlError(404, `there is no list "${list}"; name one of the service's lists, or registrants`);
  const pigeonhole = query.get('pigeonhole');
  const session = query.get('session');
  const table = tableOf(controlled.service, list, pigeonhole === null ? null : Number(pigeonhole));
  await streamTruth(table, session === null ? null : Number(session), response, query.get('ids') === '1');
}

async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const text = await readText(incoming);
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new ControlError(400, 'the body is not JSON; send a JSON value or nothing');
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

const CHUNK_ITEMS = 500;

/**
 * Streams every item of a list as NDJSON, ordered by id. To bound memory, renders a chunk only after the client has
 * received the one before. The result is a snapshot only if live events are frozen.
 * @param withIds writes lines `{"id", "item"}`, for lists whose items show no id
 */
async function streamTruth(
  table: AnyTable,
  sessionId: number | null,
  response: ServerResponse,
  withIds: boolean,
): Promise<void> {
  const ids = table.order(sessionId, 'byId');
  response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
  for (let rank = 0; rank < ids.size && !response.destroyed; rank += CHUNK_ITEMS) {
    let chunk = '';
    for (let at = rank; at < Math.min(rank + CHUNK_ITEMS, ids.size); at += 1) {
      const id = ids.idAt(at);
      const item = id === undefined ? undefined : table.item(id);
      if (item !== undefined) chunk += `${JSON.stringify(withIds ? { id, item } : item)}\n`;
    }
    // A closed connection never emits `drain`, so without waiting for `close` this loop would hang.
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end();
}
