import { ListenError } from '../api/listen-error.js';
import { ConfigError } from '../config/config-error.js';
import { StoreError } from '../ledger/drivers/store-error.js';
import { LedgerError } from '../ledger/ledger-error.js';
import { ClientOptionsError } from '../pigeonhole/client-options-error.js';
import { TemporalUnreachableError, LocalTokenError, EmbeddedTemporalError } from './process-errors.js';
import { BackupError } from '../operations/backup/backup-error.js';
import { BinaryNotFoundError } from './embedded-temporal/find-binary.js';

/** What kind of failure ended a command, for its exit code. */
export type FailureKind = 'configuration' | 'unreachable' | 'failed';

/**
 * Undefined for an error that nobody has written for a person: a defect, whose stack is worth showing when asked for.
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
