export interface LrsAccount {
  readonly username: string;
  readonly password: string;
  /** False: statements that void others are refused with 403. */
  readonly mayVoid?: boolean;
  /** False: statements cannot be read (scope `statements/write` only), and requests for them get 403. */
  readonly mayRead?: boolean;
}

export type LrsVersion = '1.0.3' | '2.0.0';

/** Behaviour that the specification leaves to the LRS. */
export interface LrsChoices {
  /** The versions that it accepts, oldest first; requests in another version get 400. A fresh account has 2.0 only. */
  readonly versions: readonly LrsVersion[];
  /** Larger bodies get 413. */
  readonly maxBytes: number;
  /**
   * Answer to a stored statement that is sent again with the same content: `accepted` (200 or 204, nothing is stored)
   * or `conflict` (409, as for other content). The specification allows both.
   */
  readonly repeats: 'accepted' | 'conflict';
  /**
   * Rule for comparing two statements with the same id: the comparison requirements of the `specification`, or `exact`
   * equality except for the order of keys. A real LRS was observed to use `exact`: it answers 409 if only the verb's
   * display or the time zone of the same instant differs.
   */
  readonly comparison: 'specification' | 'exact';
  /** Delay until a stored statement can be read: an LRS may answer before it has indexed the statement. */
  readonly visibleAfterMs: number;
}

/** One LRS: its statements, credentials and options. */
export interface Lrs {
  readonly store: StatementStore;
  readonly accounts: LrsAccount[];
  /** Access tokens that are valid, with the account that each was issued to. */
  readonly tokens: Map<string, LrsAccount>;
  readonly options: LrsChoices;
  /** Home page of the authorities that the LRS assigns. */
  readonly homePage: string;
  readonly now: () => number;
}

/** A request that the LRS refuses, with the status that the specification prescribes (Communication, 3.2). */
export class LrsRefusal extends Error {
  override readonly name = 'LrsRefusal';

  constructor(
    readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 429,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

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

  /** Removes a statement as an administrator of the LRS or a restored backup does. What it voided is valid again. */
  remove(id: string): void {
    const statement = this.find(id);
    if (statement === undefined) return;
    this.statements.delete(statement.id);
    const target = voidedBy(statement);
    if (target !== undefined) this.voidedIds.delete(target);
  }

  /** Changes a stored statement, which no client can, but an administrator with access to the database. */
  edit(id: string, changes: JsonObject): void {
    const statement = this.find(id);
    if (statement !== undefined) this.statements.set(statement.id, { ...statement, ...changes });
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
