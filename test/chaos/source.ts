import { pigeonholeLists, workspaceLists } from '../../base/lists.js';
import { fingerprint, type Item } from '../kit/compare-with-truth.js';
import { truthOf } from '../kit/truth.js';
import { control } from './control.js';
import { keyOf } from './item-key.js';

/** An item as the service shows it at the end. */
export interface TrueItem {
  readonly pigeonholeId: number;
  readonly list: string;
  /** Null for votes, which show no id. */
  readonly key: string | null;
  readonly fingerprint: string;
  readonly item: Item;
}

/** A period in which an item was not in its list. */
export interface KnownAbsence {
  /** `pigeonhole list key`, or a fingerprint if the list shows no id. */
  readonly name: string;
  /** Epoch ms. */
  readonly goneAt: number;
  /** ISO 8601; null: it was never restored. */
  readonly backAt: string | null;
}

/** A change of an attendee's consent, as the service showed it before and after. */
export interface KnownConsentChange {
  readonly pigeonholeId: number;
  readonly id: number;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** State of the frozen source, to compare sinks with. */
export interface Source {
  readonly items: readonly TrueItem[];
  readonly absences: readonly KnownAbsence[];
  /** Oldest first. */
  readonly consents: readonly KnownConsentChange[];
}

/** Reads the source from the sandbox, which must be frozen. */
export async function readSource(sandboxUrl: string): Promise<Source> {
  const items: TrueItem[] = [];
  const add = async (list: string, pigeonholeId: number): Promise<void> => {
    for (const item of await truthOf(sandboxUrl, list, pigeonholeId)) {
      items.push({
        pigeonholeId,
        list,
        key: keyOf(list, item),
        fingerprint: fingerprint(pigeonholeId, list, item),
        item,
      });
    }
  };
  for (const list of workspaceLists) await add(list, 0);
  for (const { id } of await truthOf(sandboxUrl, 'pigeonholes', 0)) {
    for (const list of pigeonholeLists) await add(list, Number(id));
  }
  const { consents } = await control<{ consents: KnownConsentChange[] }>(sandboxUrl, 'GET', 'consents');
  return { items, absences: await readAbsences(sandboxUrl), consents };
}

/** Returns all removals of single items, in order. */
export async function readAbsences(sandboxUrl: string): Promise<KnownAbsence[]> {
  type Logged = {
    list: string;
    pigeonholeId: number | null;
    item: Item | null;
    goneAt: string;
    backAt: string | null;
  };
  const { absences } = await control<{ absences: Logged[] }>(sandboxUrl, 'GET', 'absences');
  return absences.flatMap(({ list, pigeonholeId, item, goneAt, backAt }) =>
    item === null ? [] : [{ name: nameOf(pigeonholeId ?? 0, list, item), goneAt: Date.parse(goneAt), backAt }],
  );
}

function nameOf(pigeonholeId: number, list: string, item: Item): string {
  const key = keyOf(list, item);
  return key === null ? fingerprint(pigeonholeId, list, item) : `${pigeonholeId} ${list} ${key}`;
}
