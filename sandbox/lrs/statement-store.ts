import { voidedBy, type JsonObject, type Statement } from './statement.js';

/** The statements of an LRS in the order in which they were stored, and which of them are voided. */
export class StatementStore {
  private readonly statements = new Map<string, Statement>();
  private readonly sent = new Map<string, JsonObject>();
  private readonly voidedIds = new Map<string, string>();
  private lastStoredMs = 0;

  /** @param version that a statement gets which has none (Data, 2.4.10) */
  constructor(
    private readonly now: () => number,
    private readonly version: string,
  ) {}

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

  add(sent: JsonObject & { readonly id: string }, authority: JsonObject): void {
    const id = sent.id.toLowerCase();
    this.lastStoredMs = Math.max(this.now(), this.lastStoredMs + 1); // distinct, so that "since" can tell them apart
    const stored = new Date(this.lastStoredMs).toISOString();
    const statement = {
      timestamp: stored,
      version: this.version,
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
