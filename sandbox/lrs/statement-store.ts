/** A valid statement as it was sent, with the properties that the LRS assigned. */
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

const VOIDED = 'http://adlnet.gov/expapi/verbs/voided';

/** Returns the id of the statement that this one voids; undefined if it voids none. */
export function voidedBy(statement: Pick<Statement, 'verb' | 'object'>): string | undefined {
  return statement.verb['id'] === VOIDED ? String(statement.object['id']).toLowerCase() : undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The statements of an LRS in the order of storage, and the voided ones among them. */
export class StatementStore {
  private readonly statements = new Map<string, Statement>();
  private readonly sent = new Map<string, JsonObject>();
  private readonly voidedIds = new Map<string, string>();
  private lastStoredMs = 0;

  constructor(private readonly now: () => number) {}

  find(id: string): Statement | undefined {
    return this.statements.get(id.toLowerCase());
  }

  /** Returns a statement as it was sent, without the properties that the LRS assigned. */
  sentAs(id: string): JsonObject | undefined {
    return this.sent.get(id.toLowerCase());
  }

  /** Returns the id of the statement that voids this one. Voiding statements cannot be voided (Data, 2.3.2). */
  voiderOf(id: string): string | undefined {
    const statement = this.find(id);
    if (statement === undefined || voidedBy(statement) !== undefined) return undefined;
    return this.voidedIds.get(id.toLowerCase());
  }

  /** Oldest first. */
  get all(): readonly Statement[] {
    return [...this.statements.values()];
  }

  /** Stores a statement. @param version assigned to a statement without one (Data, 2.4.10) */
  add(sent: JsonObject & { readonly id: string }, authority: JsonObject, version = '2.0.0'): void {
    const id = sent.id.toLowerCase();
    this.lastStoredMs = Math.max(this.now(), this.lastStoredMs + 1); // unique, so that "since" can separate them
    const stored = new Date(this.lastStoredMs).toISOString();
    const statement = {
      timestamp: stored,
      version,
      ...sent,
      id,
      stored,
      authority,
    } as unknown as Statement;
    this.statements.set(id, statement);
    this.sent.set(id, sent);
    const target = voidedBy(statement);
    if (target !== undefined) this.voidedIds.set(target, id);
  }
}
