/**
 * What a connection pooler in front of PostgreSQL, such as PgBouncer, says when it refuses a connection or a statement
 * itself. It then answers with an error of PostgreSQL's protocol, mostly with SQLSTATE 08P01 (protocol violation), so
 * that only the message tells one refusal from another. Source: PgBouncer 1.18 to 1.24, "Configuration" and "Features".
 */
type PoolerRefusal =
  /** It refuses a parameter that the client sent when it connected. */
  | { readonly about: 'parameter'; readonly parameter: string }
  /** It pools single statements, so it refuses transactions. */
  | { readonly about: 'transactions' }
  /** Any other reason. PgBouncer's messages name users, databases and limits, but never values. */
  | { readonly about: 'other'; readonly message: string };

/**
 * Returns what a pooler refuses.
 * @returns undefined if the error is not a refusal of a pooler
 */
export function poolerRefusal({ code, message }: { code: string; message: string }): PoolerRefusal | undefined {
  if (code !== '08P01') return undefined;
  const [, parameter] = /unsupported startup parameter(?: in options)?: "?([\w.]{1,63})/i.exec(message) ?? [];
  if (parameter !== undefined) return { about: 'parameter', parameter };
  if (/statement pooling/i.test(message)) return { about: 'transactions' };
  return { about: 'other', message: message.replace(/[^\x20-\x7e]/g, ' ').slice(0, 120) };
}
