import { setTimeout as pause } from 'node:timers/promises';
import { filledAddress } from '../../base/api-client.js';
import { counted, grouped } from '../../base/words.js';
import type { StatementView } from '../../api/statements.js';
import type { SignedStatement } from '../../operations/statement/statement.js';
import { type ApiClient, askBody, type FindAddress } from '../api-client.js';

const pollMs = 500;

type Progress = NonNullable<StatementView['progress']>;

/** Waits until a statement is complete. @param note receives the progress in words, each time that it changes */
export async function completedStatement(
  client: ApiClient,
  number: number,
  note: (words: string) => void,
): Promise<SignedStatement> {
  let said = '';
  for (;;) {
    const { progress, signed } = await client.get('/api/statements/{number}', { params: { number } });
    if (signed !== null) return signed;
    const words = progress === null ? '' : progressWords(progress);
    if (words !== said) note(words);
    said = words;
    await pause(pollMs);
  }
}

function progressWords({ lists, read, blocked, audits }: Progress): string {
  if (audits !== null) return auditWords(audits);
  if (blocked !== null) return `cannot read the lists again: ${blocked}`;
  if (lists > 0 && read === lists) return 'every list was read again; waiting for deliveries, then counting';
  return `reading every list again: ${read} of ${counted(lists, 'list')}`;
}

function auditWords({ destinations, done, checked, total }: NonNullable<Progress['audits']>): string {
  if (done === destinations) return 'every destination was compared; counting';
  const part = `${grouped(checked)} of ${counted(total, 'item')}`;
  return `comparing with what the destinations hold: ${grouped(done)} of ${counted(destinations, 'destination')}, ${part}`;
}

/** Yields a statement as a file. */
export function statementFileParts(
  address: FindAddress,
  number: number,
  format: 'html' | 'json' | 'csv',
): AsyncGenerator<Uint8Array> {
  const path = filledAddress('/api/statements/{number}/file', { params: { number }, query: { format } });
  return askBody(address, { path });
}
