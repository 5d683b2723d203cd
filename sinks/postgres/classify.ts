import { poolerRefusal } from '../../base/postgres-pooler.js';
import type { Outcome } from '../sink.js';

/** The cause of a failed transaction, and what follows from it. */
type Failure =
  /** PostgreSQL refused a row. The caller finds the row by splitting the batch in halves. */
  | { readonly about: 'row'; readonly cause: string; readonly detail: string }
  /**
   * The whole batch failed. `looksAgain` means that the tables have changed, so the schema must be inspected before the
   * next batch.
   */
  | {
      readonly about: 'destination';
      readonly outcome: Extract<Outcome, { kind: 'retry' | 'pause' }>;
      readonly looksAgain: boolean;
    };

/**
 * Classifies a failure by its SQLSTATE. Does not use PostgreSQL's messages, because they quote values.
 * @param server the server's name in messages, such as `PostgreSQL at db:5432`
 */
export function classifyFailure(error: unknown, server: string, schema: string): Failure {
  if (error instanceof DestinationChanged) return pause('destination', error.message);
  const { code, severity, message } = fieldsOf(error);
  if (severity !== undefined && typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) {
    const refusal = poolerRefusal({ code, message: String(message) });
    if (refusal !== undefined) return ofPooler(refusal, server, `(SQLSTATE ${code})`);
    return ofServer(code, server, schema, nameOf(fieldsOf(error).constraint));
  }
  return retry(withoutAnswer(error, server));
}

function ofPooler(refusal: NonNullable<ReturnType<typeof poolerRefusal>>, server: string, at: string): Failure {
  switch (refusal.about) {
    case 'parameter':
      return pause(
        'destination',
        `${server} is a connection pooler that refuses the parameter "${refusal.parameter}" ${at}: remove it from "url", or add it to ignore_startup_parameters of PgBouncer`,
      );
    case 'transactions':
      return pause(
        'destination',
        `${server} is a connection pooler in statement mode, which refuses transactions ${at}: set pool_mode = session or transaction for this database, or name the PostgreSQL server itself in "url"`,
      );
    default:
      return retry(`${server}, or a connection pooler there, refused the connection ${at}: ${refusal.message}`);
  }
}

/** Source: PostgreSQL 15, Appendix A, "PostgreSQL Error Codes". */
function ofServer(code: string, server: string, schema: string, constraint: string): Failure {
  const at = `(SQLSTATE ${code})`;
  switch (code) {
    case '28P01':
    case '28000':
      return pause('credential', `${server} refuses the user or the password ${at}: correct "url", or its pg_hba.conf`);
    case '3D000':
      return pause('destination', `${server} has no such database ${at}: create it, or correct "url"`);
    case '42501':
      return pause(
        'destination',
        `${server} does not let this user write to schema "${schema}" ${at}: run "pigeonpost check" to see the missing grants`,
      );
    case '53100':
      return retry(`the disk of ${server} is full ${at}: free some space`);
    case '25006':
      return retry(`${server} is read-only ${at}: name the primary server in "url"`);
    case '53300':
      return retry(`${server} has no free connection ${at}: increase max_connections`);
    case '42P01': // no such table
    case '42703': // no such column
    case '3F000': // no such schema
    case '42P10': // no unique constraint for "on conflict"
    case '42804': // a column of another type
      return {
        ...retry(`the tables in schema "${schema}" of ${server} have changed ${at}`),
        looksAgain: true,
      };
  }
  // 08 connection, 40 rollback, 53 resources, 55P03 lock timeout, 57014 statement timeout, 57P0x shutdown or start
  if (/^(08|40|53|55|57)/.test(code)) return retry(`${server} could not run the statement now ${at}`);
  // 25 transaction state, 42 names and rights, 58 and XX failures of the server, F0 its configuration
  if (/^(25|42|58|F0|XX)/.test(code)) return retry(`${server} refused a statement ${at}: check its log`);
  // 22 data, 23 and 44 constraints (added by the owner: ours cannot fail), 54 limits, 27, 38, 39, 2F and P0 triggers
  return { about: 'row', cause: `postgres:${code}`, detail: `${server} refuses the row${constraint} ${at}` };
}

function withoutAnswer(error: unknown, server: string): string {
  const code = networkCode(error);
  if (code !== undefined) return `${server} ${SENTENCES[code] ?? `cannot be reached (${code})`}`;
  // The driver sets no code for these failures. They are recognized by their messages, which are not shown.
  const { message } = fieldsOf(error);
  const text = typeof message === 'string' ? message : '';
  if (/does not support SSL/i.test(text)) {
    return `${server} offers no TLS: enable it, or add sslmode=disable to "url" if you control the network`;
  }
  if (/password must be a string|SASL|SCRAM/i.test(text)) return `${server} requires a password: add it to "url"`;
  if (/timeout|timed out/i.test(text)) return `${server} did not answer in time`;
  return `the connection to ${server} broke`;
}

const TRUST_IT =
  'name its authority in "network.ca" or as sslrootcert in "url", or use sslmode=no-verify if you control the network';

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses the connection: start it, or correct "url"',
  ENOTFOUND: 'was not found by name: correct "url"',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name: correct "url", or use sslmode=verify-ca',
  DEPTH_ZERO_SELF_SIGNED_CERT: `has a self-signed certificate: ${TRUST_IT}`,
  SELF_SIGNED_CERT_IN_CHAIN: `has a certificate of an unknown authority: ${TRUST_IT}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `has a certificate of an unknown authority: ${TRUST_IT}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `has a certificate of an unknown authority: ${TRUST_IT}`,
};

function pause(cause: 'credential' | 'destination', detail: string): Extract<Failure, { about: 'destination' }> {
  return { about: 'destination', outcome: { kind: 'pause', cause, detail }, looksAgain: cause === 'destination' };
}

function retry(detail: string): Extract<Failure, { about: 'destination' }> {
  return { about: 'destination', outcome: { kind: 'retry', detail }, looksAgain: false };
}

/**
 * Returns a phrase with the name of the violated constraint, for a message. The table's owner added the constraint, so
 * its name contains no value of a row.
 */
function nameOf(constraint: unknown): string {
  return typeof constraint === 'string' && /^[\w -]{1,63}$/.test(constraint)
    ? ` because of constraint ${constraint}`
    : '';
}

function networkCode(error: unknown): string | undefined {
  const { code, errors } = fieldsOf(error);
  if (typeof code === 'string' && /^[A-Z][A-Z_]{3,60}$/.test(code)) return code;
  return Array.isArray(errors) && errors.length > 0 ? networkCode(errors[0]) : undefined; // one per attempted address
}

// Does not use `instanceof`, because errors of Node's modules may come from another realm (Jest, workers).
function fieldsOf(error: unknown): Partial<Record<'code' | 'severity' | 'constraint' | 'errors' | 'message', unknown>> {
  return typeof error === 'object' && error !== null ? error : {};
}

/**
 * Thrown if the schema has changed or belongs to another sink, so that further writes could mix data. The message says
 * what was found, where, and what to do.
 */
export class DestinationChanged extends Error {
  override readonly name = 'DestinationChanged';
}
