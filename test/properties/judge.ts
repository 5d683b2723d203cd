import { isDeepStrictEqual } from 'node:util';
import type { PigeonholeListName } from '../../base/lists.js';
import { listsWith } from '../kit/list-facts.js';
import type { LedgerChange, LedgerItem } from './ledger-view.js';
import { contentOf, copiesOf, type Item, markOf, type Row } from './model/row.js';
import { copiesToCount } from './model/pages.js';
import type { ModelWorld, Span } from './model/world.js';

/** Faults of a ledger, each with the items concerned. All empty: the ledger keeps its promises. */
export interface Faults {
  /** Items of the service that are missing or different in the ledger although there was time to read them. */
  readonly lost: string[];
  /** Items in the ledger that the service no longer shows. */
  readonly kept: string[];
  /** Changes with the content of the previous change. */
  readonly twice: string[];
  /** Deletions of items that were in their list all the time since the previous change. */
  readonly falselyDeleted: string[];
  /** Changes with content that the service did not show then: an older version, or too many copies. */
  readonly untrue: string[];
  /** Revisions other than 1, 2, 3…, or impossible sequences of kinds. */
  readonly disordered: string[];
}

/** Lists whose rows show a person and no flag. Source: docs/decisions/0006-anonymity-in-the-ledger.md. */
const judged: ReadonlySet<string> = new Set(listsWith(({ shows }) => shows === 'an author without a flag'));

/** An item as the ledger should have it: its own content, and its copies of other items. */
interface Saying {
  readonly said: string;
  /** Another content that is correct as well, if it depends on what the reader has seen; null: there is none. */
  readonly orSaid: string | null;
  readonly copies: string;
  /** Content without the person, for the time in which the person's identity is hidden. */
  readonly withoutPerson: string;
}

/** Current rows of one mark, and the minimum number that a reader must have counted. */
interface Shown {
  readonly shown: readonly Saying[];
  readonly fewest: number;
}

/** Knowledge about the rows of one mark, from the recorded changes. */
interface Told {
  /** Existing keys with their latest content. */
  readonly live: Map<string, string>;
  /** The earliest instant at which the last change may have been true. */
  at: number;
}

/**
 * Compares the changes and items of a ledger with the history of the service. Does not know how the lists were read:
 * all rules follow only from the promises.
 */
export class Judge {
  readonly faults: Faults = { lost: [], kept: [], twice: [], falselyDeleted: [], untrue: [], disordered: [] };
  readonly #told = new Map<string, Told>();
  readonly #marks = new Map<string, string>();
  readonly #revisions = new Map<string, { revision: number; kind: string }>();
  readonly #said = new Map<string, string>();

  constructor(readonly world: ModelWorld) {}

  /** Adds changes that were found within a span. All of their pages were requested in it. */
  hear(changes: readonly LedgerChange[], span: Span): void {
    for (const change of changes) {
      const name = nameOf(change);
      this.#expectOrder(name, change);
      if (change.kind === 'deleted') this.#hearDeleted(name, change, span);
      else if (change.item === null) this.faults.disordered.push(`${name} revision ${change.revision} has no content`);
      else this.#hearShown(name, change, change.item, span);
    }
  }

  #expectOrder(name: string, { revision, kind }: LedgerChange): void {
    const before = this.#revisions.get(name) ?? { revision: 0, kind: 'deleted' };
    const follows = (kind === 'created') === (before.kind === 'deleted');
    if (revision !== before.revision + 1 || !follows) {
      const { disordered } = this.faults;
      disordered.push(`${name} was ${before.kind} as revision ${before.revision}, then ${kind} as ${revision}`);
    }
    this.#revisions.set(name, { revision, kind });
  }

  #hearShown(name: string, change: LedgerChange, item: Item, { from, to }: Span): void {
    const { list, pigeonholeId } = change;
    const named = !judged.has(list) || change.visibility === 'named';
    const said = `${change.visibility ?? ''} ${change.sessionId} ${contentOf(list, item, named)}`;
    const mark = String(item['mark']);
    const told = this.#toldOf(pigeonholeId, list, mark);
    if (told.live.get(change.key) === said) this.faults.twice.push(`${name} revision ${change.revision}`);
    const isNewHere = !told.live.has(change.key);
    this.#marks.set(name, mark);
    told.live.set(change.key, said);

    const content = contentOf(list, item, false);
    const onlyVisibility = judged.has(list) && !isNewHere && this.#said.get(name) === content;
    this.#said.set(name, content);
    if (onlyVisibility) return; // derived from stored data, so it may be older
    const span = { from: Math.max(from, told.at), to };
    const at = this.world.firstHeld(
      pigeonholeId,
      list,
      mark,
      span,
      (held) => held.content === content && held.count >= told.live.size,
    );
    if (at === undefined) this.faults.untrue.push(`${name} revision ${change.revision} (${change.kind})`);
    else told.at = at;
  }

  #hearDeleted(name: string, { pigeonholeId, list, key, revision }: LedgerChange, { to }: Span): void {
    const mark = this.#marks.get(name);
    if (mark === undefined) return; // never reported; the order of kinds shows it
    const told = this.#toldOf(pigeonholeId, list, mark);
    const copies = told.live.size;
    told.live.delete(key);
    const at = this.world.firstHeld(pigeonholeId, list, mark, { from: told.at, to }, (held) => held.count < copies);
    if (at === undefined) this.faults.falselyDeleted.push(`${name} revision ${revision}`);
    else told.at = at;
  }

  #toldOf(pigeonholeId: number, list: string, mark: string): Told {
    const name = `${pigeonholeId} ${list} ${mark}`;
    const told = this.#told.get(name) ?? { live: new Map<string, string>(), at: 0 };
    this.#told.set(name, told);
    return told;
  }

  /** Compares the ledger with the current state of the service. Call it after everything was read. */
  differences(items: readonly LedgerItem[], lists: ReadonlySet<PigeonholeListName>): Pick<Faults, 'lost' | 'kept'> {
    const held = new Map<string, Saying[]>();
    for (const item of items) {
      if (item.item === null || !lists.has(item.list)) continue;
      const name = `${item.pigeonholeId} ${item.list} ${String(item.item['mark'])}`;
      held.set(name, [...(held.get(name) ?? []), this.#asHeld(item, item.item)]);
    }
    const lost: string[] = [];
    const kept: string[] = [];
    for (const [name, shown] of this.#shown(lists)) {
      const inLedger = held.get(name) ?? [];
      held.delete(name);
      if (inLedger.length > shown.shown.length) kept.push(`${name}, ${inLedger.length} of ${shown.shown.length}`);
      const missing = unmatched(shown, inLedger).map(({ said, copies }) => `${said} with ${copies}`);
      const instead = inLedger.map(({ said, copies }) => `${said} with ${copies}`).join(' and ') || 'nothing';
      lost.push(...missing.map((text) => `${name}: the service shows ${text}, the ledger has ${instead}`));
    }
    for (const [name] of held) if (!this.#isOfGoneSession(name, items)) kept.push(name);
    return { lost, kept };
  }

  #asHeld({ list, sessionId, visibility }: LedgerItem, item: Item): Saying {
    const named = !judged.has(list) || visibility === 'named';
    const leaks = visibility === 'anonymous' && item['attendeeId'] !== undefined ? ' with its person' : '';
    return sayingOf(list, item, { visibility: named ? 'named' : 'anonymous', sessionId: sessionId ?? 0, leaks });
  }

  #shown(lists: ReadonlySet<PigeonholeListName>): Map<string, Shown> {
    const all = new Map<string, Shown>();
    for (const pigeonholeId of this.world.shape.pigeonholeIds) {
      for (const list of lists) {
        for (const row of this.world.rows(pigeonholeId, list)) {
          const visibility = judged.has(list) ? this.#visibilityOf(pigeonholeId, row) : 'named';
          const item = this.world.shown(pigeonholeId, row);
          const saying = sayingOf(list, item, { visibility, sessionId: row.sessionId, leaks: '' });
          const name = `${pigeonholeId} ${list} ${markOf(row)}`;
          const shown = [...(all.get(name)?.shown ?? []), saying];
          all.set(name, { shown, fewest: shown.length === 1 ? 1 : copiesToCount(this.world, pigeonholeId, row) });
        }
      }
    }
    return all;
  }

  /**
   * Whether the author is visible. A flag that says anonymous always applies, also after the question or its twin was
   * moved to another session, and after the twin was deleted if the reader has seen the flag. A flag shows the author only
   * of a twin in the same session that was created at the same instant by the same attendee. Otherwise, the session decides.
   * Source: docs/decisions/0006-anonymity-in-the-ledger.md.
   */
  #visibilityOf(pigeonholeId: number, row: Row): ShownVisibility {
    const twin = (rows: readonly Row[]): Row | undefined =>
      row.list === 'questions' ? rows.find(({ id }) => id === row.id) : undefined;
    const present = twin(this.world.rows(pigeonholeId, 'qna-questions'));
    if (present?.anonymous === true) return 'anonymous';
    const isSame = present?.createdAt === row.createdAt && present.attendeeId === row.attendeeId;
    if (isSame && present.sessionId === row.sessionId) return 'named';
    const session = this.world.rows(pigeonholeId, 'sessions').find(({ id }) => id === row.sessionId);
    if (session?.anonymous !== false) return 'anonymous';
    const deleted = twin(this.world.past(pigeonholeId, 'qna-questions'));
    return deleted !== undefined && this.#wasAnonymous(pigeonholeId, deleted) ? 'either' : 'named';
  }

  #wasAnonymous(pigeonholeId: number, flagged: Row): boolean {
    const span = { from: 0, to: this.world.tick };
    const isAnonymous = ({ content }: { content: string | undefined }): boolean =>
      content !== undefined && isDeepStrictEqual((JSON.parse(content) as Item)['attendee'], { anonymous: true });
    return this.world.firstHeld(pigeonholeId, flagged.list, markOf(flagged), span, isAnonymous) !== undefined;
  }

  /** Interactions in a deleted session are kept: the service no longer shows whether it still holds them. */
  #isOfGoneSession(name: string, items: readonly LedgerItem[]): boolean {
    const found = items.find(
      ({ pigeonholeId, list, item }) => item !== null && `${pigeonholeId} ${list} ${String(item['mark'])}` === name,
    );
    if (found === undefined || found.list === 'sessions' || found.list === 'attendees') return false;
    return !this.world.rows(found.pigeonholeId, 'sessions').some(({ id }) => id === found.sessionId);
  }
}

/** `either`: the author may be named or not, depending on whether the reader has seen a flag that no longer exists. */
type ShownVisibility = 'named' | 'anonymous' | 'either';

function sayingOf(
  list: PigeonholeListName,
  item: Item,
  { visibility, sessionId, leaks }: { visibility: ShownVisibility; sessionId: number; leaks: string },
): Saying {
  const withoutPerson = `anonymous in ${sessionId}: ${contentOf(list, item, false)}`;
  const said =
    visibility === 'anonymous'
      ? withoutPerson.replace('anonymous', `anonymous${leaks}`)
      : `named${leaks} in ${sessionId}: ${contentOf(list, item, true)}`;
  const orSaid = visibility === 'either' ? withoutPerson : null;
  return { said, orSaid, copies: copiesOf(list, item), withoutPerson };
}

/**
 * Returns rows that the ledger lacks. The ledger must have the number of identical rows that a reader can count. In
 * further identical rows, a reader cannot see changes of copied fields or of their session's anonymity.
 */
function unmatched({ shown, fewest }: Shown, held: readonly Saying[]): Saying[] {
  const left = [...held];
  let untold = shown.length - fewest;
  return shown.filter((each) => {
    const isSaid = (said: string): boolean => said === each.said || said === each.orSaid;
    const index = left.findIndex(({ said, copies }) => isSaid(said) && copies === each.copies);
    if (index === -1 && untold === 0) return true;
    untold -= index === -1 ? 1 : 0;
    const taken = index === -1 ? left.findIndex(({ said }) => isSaid(said) || said === each.withoutPerson) : index;
    if (taken !== -1) left.splice(taken, 1);
    return taken === -1 && left.length > 0;
  });
}

function nameOf({ pigeonholeId, list, key }: LedgerChange): string {
  return `${pigeonholeId} ${list} ${key}`;
}
