import { byteOrderMark, csvLine } from '../../base/sheets/spreadsheet-safe.js';
import { parityDifferences } from './statement-sentences.js';
import type { Statement } from './statement.js';
import { differenceWords, type DifferenceReason, listLabels } from './statement-words.js';
import type { ListName } from '../../base/lists.js';

/** One row of the table of differences. */
interface DifferenceRow {
  /** `event service`, or the name of a destination. */
  readonly place: string;
  /** Empty: items of all lists. */
  readonly list: string;
  readonly kind: 'difference' | 'withheld' | 'refused' | 'waiting' | 'unsent' | 'comparison';
  readonly reason: string;
  readonly text: string;
  readonly items: number;
  readonly open: boolean;
  readonly todo: string;
}

/** Returns every number of items that is not the same at both ends, with its reason. Pure. */
export function differenceRows({ source, destinations, open }: Statement): DifferenceRow[] {
  const todoOf = (where: string, text: string): string =>
    open.find((point) => point.where === where && point.text === text)?.todo ?? '';
  return [
    ...source.lists.flatMap(({ list, differences }) =>
      differences.map(({ reason, text, items, open: isOpen }): DifferenceRow => {
        const todo = differenceWords[reason as DifferenceReason]?.todo ?? '';
        return { place: 'event service', list, kind: 'difference', reason, text, items, open: isOpen, todo };
      }),
    ),
    ...destinations.flatMap(({ name, lists, parity }) => [
      ...parityDifferences(parity).map(({ class: reason, words: text, items }): DifferenceRow => {
        return { place: name, list: '', kind: 'comparison', reason, text, items, open: true, todo: todoOf(name, text) };
      }),
      ...lists.flatMap(({ list, label, reasons }) =>
        reasons.map(({ outcome, reason, text, items, open: isOpen }): DifferenceRow => {
          return {
            place: name,
            list,
            kind: outcome,
            reason,
            text,
            items,
            open: isOpen,
            todo: todoOf(`${label}, at ${name}`, text),
          };
        }),
      ),
    ]),
  ];
}

/** Returns the differences of a statement as CSV. Pure. */
export function differencesCsv(statement: Statement): string {
  const head = ['place', 'list', 'list in words', 'kind', 'reason', 'explanation', 'items', 'open', 'what to do'];
  const rows = differenceRows(statement).map(({ place, list, kind, reason, text, items, open, todo }) => [
    place,
    list,
    list === '' ? '' : listLabels[list as ListName],
    kind,
    reason,
    text,
    String(items),
    open ? 'yes' : 'no',
    todo,
  ]);
  return byteOrderMark + [head, ...rows].map(csvLine).join('');
}
