import { eraseCopies } from './erase-copies.js';
import { eraseItems, itemsToErase, slicesOf } from './erase-items.js';
import { eraseRegistrants } from './erase-registrants.js';
import { type Erasure, type Receipt, countErased, refsOfErasedQuestions, workspacesOf } from './erasures.js';
import { keepReceipts, noteCleared } from './erasure-states.js';
import type { Collaborators } from '../work/collaborators.js';

/**
 * Erases the person's items, and the text of the person's questions from other people's items.
 * @returns the number of items erased or rewritten
 */
export async function eraseFromItems(deps: Collaborators, { number }: Erasure): Promise<number> {
  const items = await itemsToErase(deps.ledger, number);
  let rewritten = 0;
  for (const slice of slicesOf(items)) {
    // One after another, because each slice is a transaction that locks the pigeonhole.
    await deps.orchestration.wakeSinks(await eraseItems(deps.ledger, number, slice));
  }
  // Includes questions that an earlier attempt erased, because that attempt may have stopped before it removed the
  // copies.
  for (const ref of await refsOfErasedQuestions(deps.ledger, number)) {
    for (let after: { list: string; key: string } | null = { list: '', key: '' }; after !== null;) {
      const slice: Awaited<ReturnType<typeof eraseCopies>> = await eraseCopies(
        deps.ledger,
        { erasure: number, ref },
        after,
      );
      await deps.orchestration.wakeSinks(slice.woken);
      rewritten += slice.rewritten;
      after = slice.next;
    }
  }
  return items.length + rewritten;
}

/**
 * Erases the person from registrants and imports, and stores the receipts for the ledger, the imports and the service.
 * A row that an import is sending now is erased in a later cycle.
 */
export async function clearLedger({ ledger }: Collaborators, erasure: Erasure): Promise<Receipt[]> {
  if (erasure.names === null) return [];
  const { rows, imports, beingSent } = await eraseRegistrants(ledger, erasure.number, erasure.names);
  const workspaces = await workspacesOf(ledger, erasure.number);
  const receipts: Receipt[] = [
    {
      place: 'ledger',
      count: await countErased(ledger, erasure.number),
      outcome: 'erased',
      detail: null,
      todo: null,
    },
    {
      place: 'imports',
      count: rows,
      outcome: beingSent > 0 ? 'waiting' : rows > 0 ? 'erased' : 'nothing',
      detail: beingSent > 0 ? `${beingSent} rows are being sent` : null,
      todo: null,
    },
    ...imports.map(({ number, dropped }) => ({
      place: `import:${number}`,
      count: 1,
      outcome: 'by-hand' as const,
      detail: dropped ? 'dropped-file' : 'file',
      todo: dropped
        ? `the file of import ${number} is still in its drop folder: delete it there, and remove the person from other copies`
        : `pigeonpost does not keep the file of import ${number}: remove the person from your copies of it`,
    })),
    ...workspaces.map((workspace) => ({
      place: `service:${workspace}`,
      count: 1,
      outcome: 'by-hand' as const,
      detail: 'no-deletion-call',
      todo: 'the Event Engagement Service has no call that deletes a person: remove them in its dashboard',
    })),
  ];
  await keepReceipts(ledger.db, erasure.number, receipts);
  if (beingSent === 0) await noteCleared(ledger, erasure.number);
  return receipts;
}
