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

const VOIDED = 'http://adlnet.gov/expapi/verbs/voided';

/** The statement that this one voids; undefined for one that voids none. */
export function voidedBy(statement: Pick<Statement, 'verb' | 'object'>): string | undefined {
  return statement.verb['id'] === VOIDED ? String(statement.object['id']).toLowerCase() : undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The statements of an LRS in the order in which they were stored, and which of them are voided. */
export class StatementStore {
  private readonly statements = new Map<string, Statement>();
  private readonly sent = new Map<string, JsonObject>();
  private readonly voidedIds = new Map<string, string>();
  private lastStoredMs = 0;

  constructor(private readonly now: () => number) {}

  find(id: string): Statement | undefined {
    return this.statements.get(id.toLowerCase());
  }

  /** The statement with this id as it was sent, without what the LRS has assigned since. */
  sentAs(id: string): JsonObject | undefined {
    return this.sent.get(id.toLowerCase());
  }

  /** The statement that voids this one. Voiding statements cannot be voided (xAPI 1.0.3, Data, 2.3.2). */
  voiderOf(id: string): string | undefined {
    const statement = this.find(id);
    if (statement === undefined || voidedBy(statement) !== undefined) return undefined;
    return this.voidedIds.get(id.toLowerCase());
  }

  /** Oldest first. */
  get all(): readonly Statement[] {
    return [...this.statements.values()];
  }

  /** @param version of a statement that has none (Data, 2.4.10) */
  add(sent: JsonObject & { readonly id: string }, authority: JsonObject, version = '2.0.0'): void {
    const id = sent.id.toLowerCase();
    this.lastStoredMs = Math.max(this.now(), this.lastStoredMs + 1); // distinct, so that "since" can tell them apart
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
