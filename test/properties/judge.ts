import type { PigeonholeListName } from '../../pigeonhole/lists.js';
import type { LedgerChange, LedgerItem } from './ledger-view.js';
import { contentOf, copiesOf, type Item, markOf, type Row } from './model/row.js';
import { copiesToCount } from './model/pages.js';
import type { ModelWorld, Span } from './model/world.js';

/** Faults of a ledger, each with the items concerned. All empty: the ledger keeps its promises. */
export interface Faults {
  /** Shown by the service, and missing in the ledger or otherwise there, though there was time to read it. */
  readonly lost: string[];
  /** In the ledger, and no longer shown. */
  readonly kept: string[];
  /** A change that says what the change before it said. */
  readonly twice: string[];
  /** Deleted although it was in its list all the time since the change before. */
  readonly falselyDeleted: string[];
  /** A change that says what the service did not show then: an older version, or a copy too many. */
  readonly untrue: string[];
  /** Revisions that are not 1, 2, 3…, or kinds that do not follow each other. */
  readonly disordered: string[];
}

/** Lists whose rows show a person and no flag. Source: design, "Anonymity fails closed". */
const judged: ReadonlySet<string> = new Set<PigeonholeListName>(['questions', 'votes', 'answers', 'answer_ratings']);

/** An item as it ought to be held: what it says, and what it repeats of other items. */
interface Saying {
  readonly said: string;
  readonly copies: string;
  /** Shown with its person while the person's identity is not visible. */
  readonly withoutPerson: string;
}

/** Rows of one mark that are shown now, and how many of them a reader has to have counted. */
interface Shown {
  readonly shown: readonly Saying[];
  readonly fewest: number;
}

/** Knowledge about the rows of one mark, from the recorded changes. */
interface Told {
  /** Keys that are there, and what was last said of each. */
  readonly live: Map<string, string>;
  /** The earliest instant at which the last change can have been true. */
  at: number;
}

/**
 * Judges what a ledger told and holds against what the service held and when. Knows nothing of how it was read:
 * every rule here follows from the promises alone.
 */
export class Judge {
  readonly faults: Faults = { lost: [], kept: [], twice: [], falselyDeleted: [], untrue: [], disordered: [] };
  readonly #told = new Map<string, Told>();
  readonly #marks = new Map<string, string>();
  readonly #revisions = new Map<string, { revision: number; kind: string }>();
  readonly #said = new Map<string, string>();

  constructor(readonly world: ModelWorld) {}

  /** Hears of changes that were found within a span; every page that they come from was asked for in it. */
  hear(changes: readonly LedgerChange[], span: Span): void {
    for (const change of changes) {
      const name = nameOf(change);
      this.#expectOrder(name, change);
      if (change.kind === 'deleted') this.#hearDeleted(name, change, span);
      else if (change.item === null) this.faults.disordered.push(`${name} revision ${change.revision} says nothing`);
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
    if (onlyVisibility) return; // told from what is stored, so it may be older
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
    if (mark === undefined) return; // never told of: said by the order of kinds
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

  /** Compares what the ledger holds with what the service shows now. To be asked when all has been read. */
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
      lost.push(...missing.map((text) => `${name}: ${text} is shown, and held is ${instead}`));
    }
    for (const [name] of held) if (!this.#isOfGoneSession(name, items)) kept.push(name);
    return { lost, kept };
  }

  #asHeld({ list, sessionId, visibility }: LedgerItem, item: Item): Saying {
    const named = !judged.has(list) || visibility === 'named';
    const leaks = visibility === 'anonymous' && item['attendeeId'] !== undefined ? ' with its person' : '';
    return sayingOf(list, item, { named, sessionId: sessionId ?? 0, leaks });
  }

  #shown(lists: ReadonlySet<PigeonholeListName>): Map<string, Shown> {
    const all = new Map<string, Shown>();
    for (const pigeonholeId of this.world.shape.pigeonholeIds) {
      for (const list of lists) {
        for (const row of this.world.rows(pigeonholeId, list)) {
          const named = !judged.has(list) || this.#isNamed(pigeonholeId, row);
          const item = this.world.shown(pigeonholeId, row);
          const saying = sayingOf(list, item, { named, sessionId: row.sessionId, leaks: '' });
          const name = `${pigeonholeId} ${list} ${markOf(row)}`;
          const shown = [...(all.get(name)?.shown ?? []), saying];
          all.set(name, { shown, fewest: shown.length === 1 ? 1 : copiesToCount(this.world, pigeonholeId, row) });
        }
      }
    }
    return all;
  }

  /** A question's own flag if its twin is in the same session; else its session's flag. */
  #isNamed(pigeonholeId: number, row: Row): boolean {
    const twin =
      row.list === 'questions'
        ? this.world
            .rows(pigeonholeId, 'qna-questions')
            .find(({ id, sessionId }) => id === row.id && sessionId === row.sessionId)
        : undefined;
    if (twin !== undefined) return !twin.anonymous;
    const session = this.world.rows(pigeonholeId, 'sessions').find(({ id }) => id === row.sessionId);
    return session?.anonymous === false;
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

function sayingOf(
  list: PigeonholeListName,
  item: Item,
  { named, sessionId, leaks }: { named: boolean; sessionId: number; leaks: string },
): Saying {
  const withoutPerson = `anonymous in ${sessionId}: ${contentOf(list, item, false)}`;
  const said = named
    ? `named${leaks} in ${sessionId}: ${contentOf(list, item, true)}`
    : withoutPerson.replace('anonymous', `anonymous${leaks}`);
  return { said, copies: copiesOf(list, item), withoutPerson };
}

/**
 * What is shown and not held. Of wholly identical rows as many have to be held as a reader can tell apart, and of those
 * that it cannot, it does not see that what they repeat of others has changed, nor that their session shows its people now.
 */
function unmatched({ shown, fewest }: Shown, held: readonly Saying[]): Saying[] {
  const left = [...held];
  let untold = shown.length - fewest;
  return shown.filter((each) => {
    const index = left.findIndex(({ said, copies }) => said === each.said && copies === each.copies);
    if (index === -1 && untold === 0) return true;
    untold -= index === -1 ? 1 : 0;
    const taken =
      index === -1 ? left.findIndex(({ said }) => said === each.said || said === each.withoutPerson) : index;
    if (taken !== -1) left.splice(taken, 1);
    return taken === -1 && left.length > 0;
  });
}

function nameOf({ pigeonholeId, list, key }: LedgerChange): string {
  return `${pigeonholeId} ${list} ${key}`;
}
