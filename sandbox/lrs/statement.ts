/** A statement that was found valid, as it was sent and with what the LRS assigns. */
export interface Statement {
  readonly id: string;
  readonly actor: JsonObject;
  readonly verb: JsonObject;
  readonly object: JsonObject;
  readonly timestamp: string;
  readonly stored: string;
  readonly [property: string]: unknown;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const VOIDED = 'http://adlnet.gov/expapi/verbs/voided';

/** The statement that this one voids; undefined for one that voids none. */
export function voidedBy(statement: Pick<Statement, 'verb' | 'object'>): string | undefined {
  return statement.verb['id'] === VOIDED ? String(statement.object['id']).toLowerCase() : undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
