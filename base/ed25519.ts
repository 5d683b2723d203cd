import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/*
 * Signatures with Ed25519 (RFC 8032). Keys are 32 bytes; node:crypto accepts them only within these DER structures
 * (RFC 8410, sections 4 and 7).
 */

const keyBytes = 32;
const privateKeyHead = Buffer.from('302e020100300506032b657004220420', 'hex');
const publicKeyHead = Buffer.from('302a300506032b6570032100', 'hex');
/** The text form of a public key starts with this. */
const prefix = 'ed25519:';

/** A public key, with which anyone can check signatures. */
export class PublicKey {
  readonly #key: KeyObject;

  private constructor(private readonly bytes: Buffer) {
    const der = Buffer.concat([publicKeyHead, bytes]);
    this.#key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  }

  /** Parses `ed25519:` with base64url, the same without the prefix, or PEM. @returns undefined for any other text */
  static parse(text: string): PublicKey | undefined {
    const trimmed = text.trim();
    try {
      if (trimmed.startsWith('-----BEGIN PUBLIC KEY-----')) return PublicKey.of(createPublicKey(trimmed));
      const encoded = trimmed.startsWith(prefix) ? trimmed.slice(prefix.length) : trimmed;
      if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(encoded)) return undefined;
      return new PublicKey(Buffer.from(encoded, 'base64'));
    } catch {
      return undefined; // not a key, or one of another algorithm
    }
  }

  static of(key: KeyObject): PublicKey | undefined {
    if (key.asymmetricKeyType !== 'ed25519') return undefined;
    return new PublicKey(key.export({ format: 'der', type: 'spki' }).subarray(-keyBytes));
  }

  /** Returns the first 16 hex digits of the key's SHA-256, in groups of four, for people to compare. */
  get fingerprint(): string {
    const digits = createHash('sha256').update(this.bytes).digest('hex').slice(0, 16);
    return digits.match(/.{4}/g)!.join(' ');
  }

  get pem(): string {
    return this.#key.export({ format: 'pem', type: 'spki' }).toString();
  }

  toString(): string {
    return `${prefix}${this.bytes.toString('base64url')}`;
  }

  /** @param signature base64url */
  verifies(text: string, signature: string): boolean {
    const bytes = Buffer.from(signature, 'base64url');
    // A decoder ignores what it cannot read, so only the exact encoding of the bytes counts.
    if (bytes.toString('base64url') !== signature) return false;
    return verify(null, Buffer.from(text), this.#key, bytes);
  }
}

/** A private key, which does not leave the process. */
export class SigningKey {
  readonly #key: KeyObject;
  readonly publicKey: PublicKey;

  /** @param seed 32 secret bytes, from which the key follows */
  constructor(seed: Buffer) {
    if (seed.length !== keyBytes) throw new RangeError(`a seed of ${seed.length} bytes is not a key`);
    this.#key = createPrivateKey({ key: Buffer.concat([privateKeyHead, seed]), format: 'der', type: 'pkcs8' });
    this.publicKey = PublicKey.of(createPublicKey(this.#key))!;
  }

  /** Returns the signature of a text, base64url. */
  sign(text: string): string {
    return sign(null, Buffer.from(text), this.#key).toString('base64url');
  }
}
