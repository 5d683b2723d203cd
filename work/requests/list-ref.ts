import type { ListName, ListRef } from '../../pigeonhole/lists.js';

/** Returns the reference by which the client requests a stream's list. */
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
