import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { AnyTable } from '../store/item-table.js';

const CHUNK_ITEMS = 500;

/**
 * Writes every item of a list, as it stands when its turn comes, as NDJSON in the order of ids. Memory stays flat:
 * a chunk is made when the one before it has been taken. While traffic runs this is no snapshot; freeze first.
 * @param withIds each line is `{"id", "item"}`, for lists whose items show no id
 */
export async function streamTruth(
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
    // A closed connection emits no drain, and must not hold this loop for ever.
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end();
}
