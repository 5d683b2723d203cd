import { createHash } from 'node:crypto';
import type { Agent } from './statement.js';
import { wellFormed } from './well-formed.js';

/**
 * Returns the agent that an expression of `actor` names; undefined: the text is no identifier of that kind. Upper and
 * lower case stay as they are, since the hash of an address depends on them.
 * Source: xAPI 1.0.3, Data, 2.4.2.3: `mbox` is a mailto IRI, `mbox_sha1sum` the hex SHA-1 hash of one.
 */
export function agentOf(key: 'name' | 'mbox' | 'mboxSha1sum', text: string, homePage: string | undefined) {
  if (key === 'name') return agent({ account: { homePage: homePage!, name: wellFormed(text) } });
  const found = text.trim();
  if (key === 'mboxSha1sum' && /^[0-9a-f]{40}$/i.test(found)) return agent({ mbox_sha1sum: found.toLowerCase() });
  const mbox = `mailto:${found.replace(/^mailto:/i, '')}`;
  if (!isMailbox.test(mbox)) return undefined;
  return agent(key === 'mbox' ? { mbox } : { mbox_sha1sum: createHash('sha1').update(mbox).digest('hex') });
}

/** An address that an IRI can hold as it is: no spaces, quotes or brackets. */
const isMailbox = /^mailto:[^\s@<>()[\]\\,;:"|^`{}%?#]+@[^\s@<>()[\]\\,;:"|^`{}%?#]+\.[^\s@<>()[\]\\,;:"|^`{}%?#.]+$/;

function agent(
  identifier: { account: { homePage: string; name: string } } | { mbox: string } | { mbox_sha1sum: string },
): Agent {
  return { objectType: 'Agent', ...identifier };
}
