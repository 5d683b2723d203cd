import type { Outcome } from '../sink.js';
import { errorCode } from './file-access.js';

const SENTENCES: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free space there',
  EDQUOT: 'the disk quota is used up: free space there or raise the quota',
  EACCES: 'the file system does not permit writing: give this user the right to write there',
  EPERM: 'the file system does not permit writing: give this user the right to write there',
  EROFS: 'the file system is read-only: mount it for writing',
  EIO: 'the disk reports an error: check the system log',
  EFBIG: 'the file has reached the largest size that is allowed there: raise the limit',
  EMFILE: 'this process has too many files open: raise its limit',
  ENFILE: 'the machine has too many files open: raise its limit',
};

/**
 * Classifies a failed file-system call: `retry` for a condition that passes or that an operator fixes on the machine,
 * `pause` if the folder or a file is not as this sink left it. Neither loses a change.
 */
export function classifyFailure(error: unknown, folder: string): Extract<Outcome, { kind: 'retry' | 'pause' }> {
  if (error instanceof DestinationChanged) return { kind: 'pause', cause: 'destination', detail: error.message };
  const code = errorCode(error) ?? 'no known cause';
  if (code === 'ELOOP' || code === 'ENOTDIR' || code === 'EISDIR') {
    const detail = `${folder} holds a link, a file or a folder where something else is expected (${code}): remove it`;
    return { kind: 'pause', cause: 'destination', detail };
  }
  return { kind: 'retry', detail: `${folder} could not be written: ${SENTENCES[code] ?? code}` };
}

/**
 * The folder or a file in it differs from what this sink left there, so that further writes could lose or mix data. The
 * message is a sentence for people: what was found, where, and what to do.
 */
export class DestinationChanged extends Error {
  override readonly name = 'DestinationChanged';
}
