import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

/** The random keys of a ledger, made once with it. Losing them makes every item look changed. */
export interface LedgerKeys {
  readonly hash: Buffer;
  readonly subject: Buffer;
  readonly fingerprint: Buffer;
}

/**
 * Every hash the ledger stores. Keyed, because a bare hash of an anonymous item would let whoever sees it try all
 * attendee ids; each purpose has a key of its own, so that values of two purposes never meet in a join.
 */
export class KeyedHash {
  readonly #content: KeyObject;
  readonly #row: KeyObject;
  readonly #named: KeyObject;
  readonly #anonymous: KeyObject;
  readonly #fingerprint: KeyObject;

  constructor(keys: LedgerKeys) {
    this.#content = derive(keys.hash, 'content');
    this.#row = derive(keys.hash, 'row');
    this.#named = derive(keys.subject, 'named');
    this.#anonymous = derive(keys.subject, 'anonymous');
    this.#fingerprint = derive(keys.fingerprint, 'secret');
  }

  /** Of canonical JSON: decides that an item changed. */
  content(canonical: string): Buffer {
    return digest(this.#content, canonical);
  }

  /** The key of a row to which the service gives no id, from its canonical stable fields. */
  rowKey(canonical: string): string {
    return createHmac('sha256', this.#row).update(canonical).digest('base64url');
  }

  /** Whom a row is about, so that erasure finds it. Anonymous rows get a value that joins with nothing else. */
  subject(workspace: string, attendeeId: number, identity: 'named' | 'anonymous'): Buffer {
    const key = identity === 'named' ? this.#named : this.#anonymous;
    return digest(key, `${workspace}\n${attendeeId}`);
  }

  /** Stands for a secret in stored configurations: tells that it changed, not what it is. */
  fingerprint(secret: string): string {
    return createHmac('sha256', this.#fingerprint).update(secret).digest('base64url').slice(0, 22);
  }
}

/** By way of a text: `digest()` alone makes a buffer with memory of its own, which costs more than half the HMAC. */
function digest(key: KeyObject, text: string): Buffer {
  return Buffer.from(createHmac('sha256', key).update(text).digest('binary'), 'latin1');
}

function derive(key: Buffer, purpose: string): KeyObject {
  return createSecretKey(createHmac('sha256', key).update(purpose).digest());
}

/** pigeonpost's own UUIDv5 namespace, random, fixed for ever: ids of changes are derived in it. */
const changeNamespace = Buffer.from('8b0c6f3e5d5b4c0f9a76f1c7d2b3e410', 'hex');

/** UUIDv5 (RFC 9562) of a change. Computed once, when the change is written; stored and never recomputed. */
export function changeId(name: string): string {
  const digest = hash('sha1', Buffer.concat([changeNamespace, Buffer.from(name)]), 'hex');
  const variant = ((parseInt(digest.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-${variant}${digest.slice(18, 20)}-${digest.slice(20, 32)}`;
}
