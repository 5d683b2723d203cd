import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tokenFileOfStore } from '../../worker/instance-file.js';
import type { SignedStatement } from '../../operations/statement/statement.js';
import { apiClient, type FindAddress } from '../api-client.js';
import { writeWholeFile } from '../files.js';
import { formatSummary } from '../statement/format-statement.js';
import { completedStatement, statementFileParts } from '../statement/fetch-statement.js';
import { ExitCode } from '../exit-code.js';
import type { Output } from '../output.js';
import { type DemoFolder, demoNames } from './demo-folder.js';
import type { SandboxState } from './stand-in-state.js';

/** A statement about the largest event of the demo, and the page that was written of it. */
export interface DemoStatement {
  readonly signed: SignedStatement;
  readonly file: string;
}

/** Makes a statement about the event with the most attendees, and writes its page and its JSON into the demo's folder. */
export async function makeDemoStatement(
  apiUrl: string,
  folder: Pick<DemoFolder, 'store' | 'path' | 'shown'>,
  { pigeonholes }: Pick<SandboxState, 'pigeonholes'>,
): Promise<DemoStatement> {
  const token = readFileSync(tokenFileOfStore(folder.store), 'utf8').trim();
  const address: FindAddress = () => Promise.resolve({ url: apiUrl, token });
  const client = apiClient(address);
  const [largest] = pigeonholes.toSorted((a, b) => (b.counts['attendees'] ?? 0) - (a.counts['attendees'] ?? 0));
  const params = { workspace: demoNames.workspace, id: String(largest!.id) };
  const { number } = await client.post('/api/pigeonholes/{workspace}/{id}/statements', { params, json: {} });
  const signed = await completedStatement(client, number, () => undefined);
  for (const format of ['html', 'json'] as const) {
    const file = join(folder.path, `statement.${format}`);
    await writeWholeFile(file, statementFileParts(address, number, format));
  }
  return { signed, file: join(folder.shown, 'statement.html') };
}

/** Prints the result of the statement, and where its page is. @returns Done if every item is accounted for, else Failed */
export function reportStatement(
  { signed, file }: DemoStatement,
  out: Pick<Output, 'line' | 'columns' | 'colours'>,
): ExitCode {
  out.line('');
  for (const line of formatSummary(signed, out)) out.line(line);
  out.line(`the whole statement, to read or print: ${file}`);
  return signed.statement.agrees ? ExitCode.Done : ExitCode.Failed;
}
