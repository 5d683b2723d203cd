import { draftTexts } from '../ledger/configuration-drafts.js';
import { counted } from '../base/words.js';
import { eraseCopies } from './erase-copies.js';
import { eraseItems, itemsToErase, slicesOf } from './erase-items.js';
import { eraseRegistrants } from './erase-registrants.js';
import {
  type Erasure,
  type Receipt,
  countErased,
  pigeonholesOfErasedQuestions,
  workspacesOf,
  type ErasureNames,
} from './erasures.js';
import { erasureReasons, keepReceipts, noteCleared, settleEarlier } from './erasure-states.js';
import { approvalReasons } from '../ledger/approvals.js';
import { droppedFileProblems } from '../ledger/imports/dropped-files.js';
import { importFileNames } from '../ledger/imports/imports.js';
import type { OperatorTexts } from '../ledger/operator-texts.js';
import { pauseReasons } from '../ledger/pauses.js';
import type { Collaborators } from '../cycles/collaborators.js';
import type { Ledger } from '../ledger/ledger.js';
import { personFields, addressesIn, waysToName } from './find-person.js';
import type { Fields } from '../ledger/item-form.js';

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
  for (const pigeonholeNumber of await pigeonholesOfErasedQuestions(deps.ledger, number)) {
    for (let after: { list: string; key: string } | null = { list: '', key: '' }; after !== null;) {
      const slice: Awaited<ReturnType<typeof eraseCopies>> = await eraseCopies(
        deps.ledger,
        { erasure: number, pigeonholeNumber },
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
 * A row that an import is sending now is erased in a later cycle. While an earlier erasure of the same person is open,
 * the receipt for the ledger is `waiting`, because part of the person's data belongs to that erasure.
 */
export async function clearLedger({ ledger }: Collaborators, erasure: Erasure): Promise<Receipt[]> {
  const earlier = await settleEarlier(ledger, erasure.number);
  if (erasure.names === null) return earlier > 0 ? [ledgerReceipt(0, 'waiting')] : [];
  const { rows, imports, beingSent } = await eraseRegistrants(ledger, erasure.number, erasure.names);
  const workspaces = await workspacesOf(ledger, erasure.number);
  const receipts: Receipt[] = [
    ledgerReceipt(await countErased(ledger, erasure.number), earlier > 0 ? 'waiting' : 'erased'),
    {
      place: 'imports',
      count: rows,
      outcome: beingSent > 0 ? 'waiting' : rows > 0 ? 'erased' : 'nothing',
      detail: beingSent > 0 ? `sending of ${counted(beingSent, 'row')} has not ended` : null,
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

const ledgerReceipt = (count: number, outcome: 'waiting' | 'erased'): Receipt => ({
  place: 'ledger',
  count,
  outcome,
  detail: null,
  todo: null,
});

/** The texts that operators typed, or that quote their files, as far as this room knows them. */
const operatorTexts: readonly OperatorTexts[] = [
  pauseReasons,
  approvalReasons,
  erasureReasons,
  importFileNames,
  droppedFileProblems,
  draftTexts,
];

/**
 * Erases texts that name the person: reasons and drafts that operators typed, names of files, and problems found in files. Call it
 * before the person's records are erased, because it reads the names from them. It compares words, so it also erases a
 * reason in which a word only happens to equal one of the person's names. Safe to run twice.
 * @param more texts in tables of rooms that this one does not know
 */
export async function eraseReasons(ledger: Ledger, names: ErasureNames, more: readonly OperatorTexts[]): Promise<void> {
  const texts = namingTexts(names, await personFields(ledger, names.places, { earlier: true }));
  const addresses = new Set([...texts].filter((text) => text.includes('@')));
  for (const { read, erase, isCode } of [...operatorTexts, ...more]) {
    const rows = await ledger.db.query<{ text: string }>(read);
    const naming = rows
      .map(({ text }) => text)
      .filter((text) => namesPerson(text, isCode === true ? addresses : texts));
    if (naming.length > 0) await ledger.db.query(erase, [naming]);
  }
}

/** Minimum length of a name or of one of its words. Shorter ones appear in too many sentences about something else. */
const minWordLength = 3;

/**
 * Returns the texts by which a sentence may name a person, in lower case: the name in the request, the person's ids,
 * codes and e-mail addresses, and the names in the person's records, each name as a whole and word by word. Pure.
 */
export function namingTexts({ asked, places }: ErasureNames, records: readonly Fields[]): Set<string> {
  const named = records.flatMap((fields) =>
    Object.entries(fields).flatMap(([field, value]) =>
      /name/i.test(field) && typeof value === 'string' ? [value, ...value.split(/[\s,]+/u)] : [],
    ),
  );
  const texts = [
    ...(asked === null ? [] : waysToName(asked).map(({ text }) => text)),
    ...places.flatMap(({ attendeeIds, codes }) => [...attendeeIds.map(String), ...codes]),
    ...addressesIn(records),
    ...named.filter((text) => text.trim().length >= minWordLength),
  ];
  return new Set(texts.map((text) => text.trim().toLowerCase()).filter((text) => text !== ''));
}

/** Whether a sentence contains one of the texts as whole words. Ignores case. Pure. */
export function namesPerson(sentence: string, texts: ReadonlySet<string>): boolean {
  const lower = sentence.toLowerCase();
  return [...texts].some((text) => {
    for (let at = lower.indexOf(text); at >= 0; at = lower.indexOf(text, at + 1)) {
      if (!isWordPart(lower.slice(0, at).at(-1)) && !isWordPart(lower.at(at + text.length))) return true;
    }
    return false;
  });
}

function isWordPart(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}
