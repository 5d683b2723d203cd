import type { ListName, ListRef } from '../../pigeonhole/lists.js';

/** How a stream's list is asked for. */
export function listRef(pigeonholeId: number, { list, sessionId }: { list: string; sessionId: number }): ListRef {
  const name = list as ListName;
  switch (name) {
    case 'pigeonholes':
    case 'subscriptions':
      return { list: name };
    case 'votes':
    case 'answer_ratings':
    case 'answers':
      return { list: name, pigeonholeId, sessionId };
    default:
      return { list: name, pigeonholeId };
  }
}
