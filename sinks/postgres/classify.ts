import type { Outcome } from '../sink.js';

/** Whom a failed transaction is about. */
type Failure =
  /** One of its rows: found by halving the batch. */
  | { readonly about: 'row'; readonly cause: string; readonly detail: string }
  /** All of it. `looksAgain`: the tables are not what was seen before, and are looked at again first. */
  | {
      readonly about: 'destination';
      readonly outcome: Extract<Outcome, { kind: 'retry' | 'pause' }>;
      readonly looksAgain: boolean;
    };

/**
 * What a failure means, told by SQLSTATE alone: PostgreSQL's own words quote values.
 * @param server as it is named to a person, e.g. `PostgreSQL at db:5432`
 */
export function classifyFailure(error: unknown, server: string, schema: string): Failure {
  if (error instanceof DestinationChanged) return pause('destination', error.message);
  const { code, severity } = fieldsOf(error);
  if (severity !== undefined && typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) {
    return ofServer(code, server, schema, nameOf(fieldsOf(error).constraint));
  }
  return retry(withoutAnswer(error, server));
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
        `${server} does not let this user write to schema "${schema}" ${at}: "pigeonpost check" says what to grant`,
      );
    case '53100':
      return retry(`no space is left on the disk of ${server} ${at}: free some`);
    case '25006':
      return retry(`${server} is read-only ${at}: name the primary server in "url"`);
    case '53300':
      return retry(`${server} has no connection left ${at}: allow more`);
    case '42P01': // no such table
    case '42703': // no such column
    case '3F000': // no such schema
    case '42P10': // no unique constraint for "on conflict"
    case '42804': // a column of another type
      return {
        ...retry(`the tables in schema "${schema}" of ${server} are not what they were ${at}`),
        looksAgain: true,
      };
  }
  // 40 rolled back for other work, 55P03 a lock not given, 57014 a statement over its time, 08 connection, 57P0x
  // shutdown and start, 53 resources
  if (/^(08|40|53|55|57)/.test(code)) return retry(`${server} could not carry it out for now ${at}`);
  // 22 data, 23 constraints (of the owner's making: ours cannot fail), 54 limits, P0001 raised by a trigger
  if (/^(22|23|54|P0)/.test(code)) {
    return { about: 'row', cause: `postgres:${code}`, detail: `${server} refuses the row${constraint} ${at}` };
  }
  return retry(`${server} refused a statement ${at}: look at its log`);
}

function withoutAnswer(error: unknown, server: string): string {
  const code = networkCode(error);
  if (code !== undefined) return `${server} ${SENTENCES[code] ?? `cannot be reached (${code})`}`;
  // The driver gives these no code. Only their kind is told on.
  const { message } = fieldsOf(error);
  const text = typeof message === 'string' ? message : '';
  if (/does not support SSL/i.test(text)) {
    return `${server} offers no TLS: switch it on there, or add sslmode=disable to "url" where the network is your own`;
  }
  if (/password must be a string|SASL|SCRAM/i.test(text)) return `${server} wants a password: put it into "url"`;
  if (/timeout|timed out/i.test(text)) return `${server} did not answer in time`;
  return `the connection to ${server} broke`;
}

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses the connection: start it, or correct "url"',
  ENOTFOUND: 'was not found by name: correct "url"',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name: correct "url", or use sslmode=verify-ca',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a self-signed certificate: name it in "network.ca"',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate of an unknown authority: name it in "network.ca"',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'has a certificate of an unknown authority: name it in "network.ca"',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate of an unknown authority: name it in "network.ca"',
};

function pause(cause: 'credential' | 'destination', detail: string): Extract<Failure, { about: 'destination' }> {
  return { about: 'destination', outcome: { kind: 'pause', cause, detail }, looksAgain: cause === 'destination' };
}

function retry(detail: string): Extract<Failure, { about: 'destination' }> {
  return { about: 'destination', outcome: { kind: 'retry', detail }, looksAgain: false };
}

/** A constraint that the owner of the table has added; its name is theirs and no value. */
function nameOf(constraint: unknown): string {
  return typeof constraint === 'string' && /^[\w -]{1,63}$/.test(constraint) ? ` by constraint ${constraint}` : '';
}

function networkCode(error: unknown): string | undefined {
  const { code, errors } = fieldsOf(error);
  if (typeof code === 'string' && /^[A-Z][A-Z_]{3,60}$/.test(code)) return code;
  return Array.isArray(errors) && errors.length > 0 ? networkCode(errors[0]) : undefined; // one per address tried
}

// By their fields and not by `instanceof`: errors of Node's own modules may come from another realm (Jest, workers).
function fieldsOf(error: unknown): Partial<Record<'code' | 'severity' | 'constraint' | 'errors' | 'message', unknown>> {
  return typeof error === 'object' && error !== null ? error : {};
}

/**
 * The schema is not what this sink left there, or not its own, so that writing on could mix data. The message is a
 * sentence for a person: what was found, where, and what to do.
 */
export class DestinationChanged extends Error {
  override readonly name = 'DestinationChanged';
}
