import { groupBy } from '../../base/grouping.js';
import { isListName } from '../../base/lists.js';
import { counted } from '../../base/words.js';
import { askPerson, carryOut } from '../asking/act.js';
import { post } from '../asking/ask.js';

/** A row that may be sent again. */
interface Sent {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
  /** State of its delivery. */
  readonly state: string | null;
}

/** Whether an operator can send a delivery again. One that waits is sent anyway, and one that is withheld would be withheld. */
export function canBeSentAgain({ state }: Sent): boolean {
  return state === 'dead' || state === 'delivered';
}

/**
 * Sends deliveries again: dead letters by a redrive, delivered ones by a replay of their items, which sends the present state.
 * @returns false if the operator cancelled, or the API refused
 */
export async function sendAgain(
  sink: string,
  rows: readonly Sent[],
  { asks = true }: { readonly asks?: boolean } = {},
): Promise<boolean> {
  const items = [...new Map(rows.map((row) => [itemName(row), row])).values()];
  const dead = items.filter(({ state }) => state === 'dead');
  const delivered = items.filter(({ state }) => state === 'delivered');
  if (asks) {
    const parts = [
      ...(dead.length === 0 ? [] : [`${counted(dead.length, 'dead letter')} to send again`]),
      ...(delivered.length === 0
        ? []
        : [`${counted(delivered.length, 'delivered item')} to send again in its present state, marked as a replay`]),
    ];
    const given = await askPerson({
      title: `Send ${counted(items.length, 'item')} to ${sink} again?`,
      body: `${parts.join('; ')}.`,
      confirm: 'Send again',
    });
    if (given === null) return false;
  }
  const done = await carryOut(
    async () => {
      if (dead.length > 0) {
        const chosen = dead.map(({ workspace, pigeonholeId, list, key }) => ({
          pigeonhole: `${workspace}/${pigeonholeId}`,
          list,
          key,
        }));
        await post('/api/dead-letters/redrive', { json: { sink, items: chosen } });
      }
      for (const own of groupBy(delivered, (row) => `${row.workspace}/${row.pigeonholeId} ${row.list}`).values()) {
        const { workspace, pigeonholeId, list } = own[0]!;
        if (!isListName(list)) continue;
        await post('/api/replays', {
          json: {
            id: crypto.randomUUID(),
            sink,
            lists: [list],
            pigeonhole: `${workspace}/${pigeonholeId}`,
            keys: own.map(({ key }) => key),
            from: null,
            dryRun: false,
          },
        });
      }
      return items.length;
    },
    (n) => `${counted(n, 'item')} queued again for ${sink}`,
  );
  return done !== undefined;
}

function itemName({ workspace, pigeonholeId, list, key }: Sent): string {
  return JSON.stringify([workspace, pigeonholeId, list, key]);
}
