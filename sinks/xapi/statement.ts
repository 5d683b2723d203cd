/**
 * A statement as it is sent: the part of xAPI 1.0.3 (Data, 2.2 "Formation of Statements") that is used here. The LRS adds
 * who stored it and when.
 */
export interface Statement {
  readonly id: string;
  readonly actor: Agent;
  readonly verb: { readonly id: string; readonly display: LanguageMap };
  readonly object: Activity | StatementRef;
  readonly result?: Result;
  readonly context?: Context;
  /** ISO 8601, UTC; a voiding statement has none, so that it is the same whenever it is sent. */
  readonly timestamp?: string;
}

/** The same in any language: what an audience says has none that is known ("und", RFC 5646). */
export type LanguageMap = Readonly<Record<string, string>>;

/** With exactly one identifier: xAPI 1.0.3, Data, 2.4.2.3 "Inverse Functional Identifier". */
export type Agent = { readonly objectType: 'Agent' } & (
  | { readonly account: { readonly homePage: string; readonly name: string } }
  | { readonly mbox: string }
  | { readonly mbox_sha1sum: string }
);

export interface Activity {
  readonly objectType: 'Activity';
  readonly id: string;
  readonly definition?: ActivityDefinition;
}

export interface ActivityDefinition {
  readonly type: string;
  readonly name?: LanguageMap;
  readonly interactionType?: 'choice' | 'numeric' | 'long-fill-in';
  /** The options that are known from the statement itself: the service does not list those that nobody chose. */
  readonly choices?: readonly { readonly id: string; readonly description: LanguageMap }[];
}

export interface StatementRef {
  readonly objectType: 'StatementRef';
  readonly id: string;
}

export interface Result {
  readonly response?: string;
  readonly score?: { readonly raw: number };
  readonly completion?: boolean;
  /** ISO 8601. */
  readonly duration?: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface Context {
  readonly platform: string;
  readonly contextActivities: { readonly parent?: readonly Activity[]; readonly grouping: readonly Activity[] };
}
