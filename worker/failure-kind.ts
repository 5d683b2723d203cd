import { ListenError } from '../api/listen.js';
import { ConfigError } from '../config/config-error.js';
import { StoreError } from '../ledger/drivers/store-error.js';
import { LedgerError } from '../ledger/ledger-error.js';
import { ClientOptionsError } from '../pigeonhole/api-error.js';
import { BackupError } from '../operations/backup/backup-error.js';
import { BinaryNotFoundError } from './embedded-temporal/find-binary.js';

/** The kind of failure that ended a command, for its exit code. */
type FailureKind = 'configuration' | 'unreachable' | 'failed';

/**
 * Returns the kind of a failure for the exit code. Undefined: the error has no message for the operator. It is a bug,
 * and its stack can be shown on request.
 */
export function failureKindOf(error: unknown): FailureKind | undefined {
  if (error instanceof ConfigError || error instanceof ClientOptionsError) return 'configuration';
  if (error instanceof ListenError || error instanceof EmbeddedTemporalError) return 'failed';
  if (error instanceof BackupError) return error.kind === 'wrongUse' ? 'configuration' : 'failed';
  if (error instanceof LocalTokenError) return 'configuration';
  if (error instanceof LedgerError) return error.kind === 'configuration' ? 'configuration' : 'failed';
  if (error instanceof StoreError) return error.kind === 'unreachable' ? 'unreachable' : 'failed';
  if (error instanceof TemporalUnreachableError || error instanceof BinaryNotFoundError) return 'unreachable';
  return undefined;
}

/**
 * Returns true if a server could not listen because its port is in use or its host is not an address of this machine.
 */
export function isListenError(error: unknown): boolean {
  return error instanceof ListenError;
}

/** The error for a local API token that cannot be read or stored. The message says what to do. */
export class LocalTokenError extends Error {
  override readonly name = 'LocalTokenError';
}

/**
 * The error for a Temporal server that cannot be reached or refuses the connection. The message is one sentence with
 * the address.
 */
export class TemporalUnreachableError extends Error {
  override readonly name = 'TemporalUnreachableError';
}

/** The error for an embedded server that cannot run. The message is one sentence with the path of its log. */
export class EmbeddedTemporalError extends Error {
  override readonly name = 'EmbeddedTemporalError';
}
