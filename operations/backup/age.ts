import { open, readFile } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { BackupError } from './backup-error.js';
import type { BackupBytes, Encrypt } from './backup-store.js';

/** The first bytes of every file in age's binary format. Source: C2SP, age-encryption.org/v1. */
const firstLine = 'age-encryption.org/v1\n';

/**
 * Returns a function that encrypts a stream to recipients, in the age format. Its memory does not grow with the stream.
 * @throws {BackupError} kind `wrongUse` for a text that is not a recipient
 */
export async function encrypterTo(recipients: readonly string[]): Promise<Encrypt> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient);
    } catch {
      throw new BackupError(
        'wrongUse',
        `"${recipient.slice(0, 80)}" is not an age recipient: give a public key that begins with age1, as age-keygen prints it`,
      );
    }
  }
  return async function* (bytes) {
    yield* await encrypter.encrypt(ReadableStream.from(bytes));
  };
}

/** Whether a file is in age's binary format. False also for a file that is missing. */
export async function isEncrypted(file: string): Promise<boolean> {
  const opened = await open(file, 'r').catch(() => undefined);
  if (opened === undefined) return false;
  try {
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(firstLine.length), 0, firstLine.length, 0);
    return buffer.toString('latin1', 0, bytesRead) === firstLine;
  } finally {
    await opened.close();
  }
}

/**
 * Returns the plain bytes of an encrypted backup. If the file was cut off or changed, the stream ends with a
 * BackupError.
 * @param identityFile a file as age-keygen writes it
 * @throws {BackupError} if the backup was not encrypted to any identity of that file
 */
export async function decrypted(file: string, identityFile: string): Promise<BackupBytes> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of await identitiesIn(identityFile)) {
    try {
      decrypter.addIdentity(identity);
    } catch {
      throw new BackupError('wrongUse', `${identityFile} holds an identity that is not valid: copy the file again`);
    }
  }
  const source = createReadStream(file);
  let plain: AsyncIterable<Uint8Array>;
  try {
    plain = await decrypter.decrypt(ReadableStream.from(source as AsyncIterable<Uint8Array>));
  } catch {
    source.destroy();
    throw new BackupError(
      'unusable',
      `${file} cannot be decrypted with ${identityFile}: give the identity of a recipient that the backup was encrypted to`,
    );
  }
  return checked(file, plain);
}

/** Checks that a backup can be decrypted, by reading its head. Call it before any change. @throws {BackupError} as `decrypted` */
export async function requireDecryptable(file: string, identityFile: string): Promise<void> {
  const plain = await decrypted(file, identityFile);
  await plain[Symbol.asyncIterator]().return?.(undefined);
}

async function* checked(file: string, plain: AsyncIterable<Uint8Array>): BackupBytes {
  try {
    yield* plain;
  } catch (error) {
    throw new BackupError('unusable', `${file} is cut off or was changed, and cannot be decrypted: give another copy`, {
      cause: error,
    });
  }
}

async function identitiesIn(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BackupError('wrongUse', `the identity ${file} cannot be read (${error.code}): correct the path`);
  });
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
  if (lines.length > 0 && lines.every((line) => line.startsWith('AGE-SECRET-KEY-'))) return lines;
  throw new BackupError(
    'wrongUse',
    `${file} is not an age identity file: give one as age-keygen writes it, with lines that begin with AGE-SECRET-KEY-. For a plugin or a passphrase, decrypt the backup with age first`,
  );
}
