import { hash } from 'node:crypto';
import { Hmac } from '../base/hmac.js';

/** The random keys of a ledger, created together with it. If they are lost, every item looks changed. */
export interface LedgerKeys {
  readonly hash: Buffer;
  readonly subject: Buffer;
  readonly fingerprint: Buffer;
}

/**
 * Computes every hash that the ledger stores. Hashes are keyed, because anyone who sees a bare hash of an anonymous
 * item could try all attendee ids. Each purpose has a key of its own, so values of two purposes never match in a join.
 */
export class KeyedHash {
  readonly #content: Hmac;
  readonly #row: Hmac;
  readonly #named: Hmac;
  readonly #anonymous: Hmac;
  readonly #fingerprint: Hmac;
  readonly #code: Hmac;
  readonly #registrant: Hmac;
  readonly #generated: Hmac;
  readonly #file: Hmac;
  readonly #asked: Hmac;
  readonly #origin: Hmac;
  readonly #address: Hmac;
  readonly #beginning: Hmac;
  readonly #sealing: Buffer;

  constructor(keys: LedgerKeys) {
    this.#content = derive(keys.hash, 'content');
    this.#row = derive(keys.hash, 'row');
    this.#named = derive(keys.subject, 'named');
    this.#anonymous = derive(keys.subject, 'anonymous');
    this.#fingerprint = derive(keys.fingerprint, 'secret');
    this.#code = derive(keys.subject, 'attendee code');
    this.#registrant = derive(keys.hash, 'registrant');
    this.#generated = derive(keys.subject, 'generated codes');
    this.#file = derive(keys.hash, 'file');
    this.#asked = derive(keys.subject, 'asked for');
    this.#origin = derive(keys.subject, 'origin');
    this.#address = derive(keys.subject, 'address');
    this.#beginning = derive(keys.subject, 'beginning of a word');
    this.#sealing = new Hmac(keys.fingerprint).of('kept credentials');
  }

  /** Hashes an item's canonical JSON: a different hash means that the item changed. */
  content(canonical: string): Buffer {
    return this.#content.of(canonical);
  }

  /** Returns a key for a row that has no id in the service, from the canonical JSON of its stable fields. */
  rowKey(canonical: string): string {
    return this.#row.of(canonical).toString('base64url');
  }

  /**
   * Returns the hash by which an erasure finds the rows of a person. Anonymous rows get a different hash, so that a
   * join cannot connect them with the person's other rows.
   */
  subject(workspace: string, attendeeId: number, identity: 'named' | 'anonymous'): Buffer {
    const key = identity === 'named' ? this.#named : this.#anonymous;
    return key.of(`${workspace}\n${attendeeId}`);
  }

  /**
   * Hashes what distinguishes a question from another one with the same id: its creation instant and its author. 16
   * bytes.
   */
  origin(createdAt: string, attendeeId: number): Buffer {
    return this.#origin.firstOf(`${createdAt}\n${attendeeId}`, 16);
  }

  /**
   * Hashes a registrant's code, by which imports recognize rows of the same registrant. 16 bytes, because the ledger
   * stores many of them.
   */
  attendeeCode(code: string): Buffer {
    return this.#code.firstOf(code, 16);
  }

  /** Hashes an e-mail address, without regard to case, to find the records that have it. 16 bytes. */
  address(text: string): Buffer {
    return this.#address.firstOf(text.trim().toLowerCase(), 16);
  }

  /**
   * Hashes the beginning of a word, for the index of a search. 48 bits, which a number can hold: the search compares the
   * texts that it finds.
   */
  beginning(text: string): number {
    return this.#beginning.firstOf(text, 6).readUIntBE(0, 6);
  }

  /**
   * Hashes a registrant's canonical profile, to find out whether another file has the same data for a code. 16 bytes.
   */
  registrant(canonical: string): Buffer {
    return this.#registrant.firstOf(canonical, 16);
  }

  /**
   * Returns the key from which codes for registrants of a pigeonhole are generated. Nobody can guess the codes, and a
   * registrant gets the same code each time.
   */
  generatedCodes(workspace: string, pigeonholeId: number): Buffer {
    return this.#generated.of(`${workspace}\n${pigeonholeId}`);
  }

  /**
   * Hashes a file's SHA-256, to find out whether it was imported before. A bare hash would let anyone with the file
   * recognize it.
   */
  file(sha256: string): Buffer {
    return this.#file.of(sha256);
  }

  /**
   * Hashes the text that identified a person in an erasure request, to recognize a repeated request without storing the
   * text.
   */
  asked(text: string): Buffer {
    return this.#asked.of(text.trim().toLowerCase());
  }

  /** Returns the 32-byte key under which the ledger encrypts the credentials that it stores (kept-credentials.ts). */
  sealingKey(): Buffer {
    return this.#sealing;
  }

  /**
   * Hashes a secret. Stored configurations contain the hash instead of the secret, so that a change of the secret is
   * noticed.
   */
  fingerprint(secret: string): string {
    return this.#fingerprint.of(secret).toString('base64url').slice(0, 22);
  }
}

function derive(key: Buffer, purpose: string): Hmac {
  return new Hmac(new Hmac(key).of(purpose));
}

/** pigeonpost's own UUIDv5 namespace for ids of changes: a random value that must never change. */
const changeNamespace = Buffer.from('8b0c6f3e5d5b4c0f9a76f1c7d2b3e410', 'hex');

/**
 * Returns the UUIDv5 (RFC 9562) of a change as 32 hex digits. PostgreSQL accepts UUIDs with and without hyphens, and
 * leaving them out is cheaper. The id is computed once, when the change is written, and then stored.
 */
export function changeId(name: string): string {
  const digest = hash('sha1', Buffer.concat([changeNamespace, Buffer.from(name)]), 'hex');
  const variant = ((parseInt(digest[16]!, 16) & 0x3) | 0x8).toString(16);
  return `${digest.slice(0, 12)}5${digest.slice(13, 16)}${variant}${digest.slice(17, 32)}`;
}

/**
 * Returns the id of a change that a replay emits: always the same for this replay, and different from the change's own
 * id. It has hyphens, because it is never stored; other ids get their hyphens from the store.
 */
export function replayedChangeId(replayId: string, id: string): string {
  const hex = changeId(['replay', replayId, id].join('\n'));
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

interface NamedChange {
  readonly key: string;
  readonly revision: number;
  readonly kind: 'created' | 'updated' | 'deleted';
  /** Keyed hash of the content; for a deletion, of the deleted content. */
  readonly hash: Buffer;
}

/**
 * Derives the id of a change from everything that distinguishes it, so that reading the change again gives the same id.
 */
export function idOfChange(
  {
    workspace,
    pigeonholeId,
    list,
  }: { readonly workspace: string; readonly pigeonholeId: number; readonly list: string },
  { key, revision, kind, hash: content }: NamedChange,
): string {
  return changeId(`${workspace}\n${pigeonholeId}\n${list}\n${key}\n${revision}\n${kind}\n${content.toString('hex')}`);
}
