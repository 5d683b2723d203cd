/**
 * The change envelope: what `webhook` sends as its body, `file` writes as a line and mappings see as `change`.
 * Its fields are a contract with receivers; docs/change-envelope.md describes it for them.
 */
export interface Change {
  /** UUIDv5, fixed when the change was written to the ledger; a repeat of the change has the same id. */
  readonly id: string;
  /** List and kind, e.g. `questions.created`. */
  readonly type: `${string}.${ChangeKind}`;
  /** Time at which pigeonpost found the change: ISO 8601, UTC, milliseconds. */
  readonly timestamp: string;
  readonly workspace: string;
  /** 0 for the lists of a workspace. */
  readonly pigeonholeId: number;
  /** Null for items that belong to no session. */
  readonly sessionId: number | null;
  readonly list: string;
  readonly key: string;
  /** 1, 2, 3… per item without gaps; receivers order by it. */
  readonly revision: number;
  /** Rises within a pigeonhole. */
  readonly sequence: number;
  /**
   * The item as received from the service, without `links`, passcodes and the fields removed by anonymity and `drop`;
   * null when deleted.
   */
  readonly data: Readonly<Record<string, unknown>> | null;
  /** The id of the replay that emitted the change again on purpose; absent on all other changes. */
  readonly replay?: string;
}

type ChangeKind = 'created' | 'updated' | 'deleted';

/**
 * Returns the change envelope as JSON on one line, without a newline at its end. Webhook bodies and file lines consist
 * of exactly these bytes, so pigeonpost sends the same bytes each time it sends a change. To ensure this, the fields
 * are always in the order of docs/change-envelope.md, and no other field is added. JSON.stringify escapes text that is
 * not valid Unicode (a lone surrogate), so encoding the result as UTF-8 loses nothing.
 * @param data `change.data` as JSON, if the caller already has it; it is inserted unchanged
 */
export function changeJson(change: Change, data: string = JSON.stringify(change.data)): string {
  const head = JSON.stringify({
    id: change.id,
    type: change.type,
    timestamp: change.timestamp,
    workspace: change.workspace,
    pigeonholeId: change.pigeonholeId,
    sessionId: change.sessionId,
    list: change.list,
    key: change.key,
    revision: change.revision,
    sequence: change.sequence,
  });
  const replay = change.replay === undefined ? '' : `,"replay":${JSON.stringify(change.replay)}`;
  return `${head.slice(0, -1)},"data":${data}${replay}}`;
}

/** The items of the people who must be forgotten, in one pigeonhole. */
export interface ErasedItems {
  /** Keys by list. */
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * Ids of the questions among these items. Other people's items (votes, answers) contain copies of the questions'
   * texts.
   */
  readonly questions: ReadonlySet<number>;
}

/** Matches the first `key` of a line. It is the envelope's key, because the item's data comes after it. */
const keyOfEnvelope = /"key":("(?:[^"\\]|\\.)*")/;

/**
 * Removes the data of erased items from a line (one change envelope). Returns the line unchanged, the line without the
 * erased text, or null if the caller must delete the line. A line that records the deletion of an item stays, because
 * it contains only the item's key. Pure; a second run changes nothing.
 */
export function rewriteLine(line: string, list: string, { keys, questions }: ErasedItems): string | null {
  const [, key] = keyOfEnvelope.exec(line) ?? [];
  if (key !== undefined && keys.get(list)?.has(JSON.parse(key) as string)) {
    return (JSON.parse(line) as Change).data === null ? line : null;
  }
  if (questions.size === 0 || !line.includes('"question":{')) return line;
  const change = JSON.parse(line) as Change;
  const question = change.data?.['question'];
  const id = typeof question === 'object' && question !== null && 'id' in question ? question.id : undefined;
  if (typeof id !== 'number' || !questions.has(id)) return line;
  return changeJson({ ...change, data: { ...change.data, question: { id } } });
}
