import type { InUse } from '../../cycles/collaborators.js';
import { type ImportDesk, createImportDesk } from '../../importing/desk/import-desk.js';
import type { ImportRequest } from '../../importing/desk/import-request.js';
import type { ImportReportRow, ImportView } from '../../importing/desk/import-views.js';
import type { ImportFolder } from '../../config/config.js';
import { DropFolders } from '../../importing/drop-folders/drop-folders.js';
import type { Scene } from '../kit/scene.js';
import { finish } from './importing.js';

/** Creates the desk that handles files as the API does. An import runs to its end when it is started or resumed. */
export function deskIn(
  scene: Scene,
  wake = async (id: string): Promise<void> => void (await finish(scene, id)),
): ImportDesk {
  return createImportDesk({ editions: usedBy(scene), ledger: scene.ledger, wake, log: scene.deps.log });
}

function usedBy({ deps }: Pick<Scene, 'deps'>): InUse {
  return { use: (work) => work(deps) };
}

/** Yields a file in small chunks, like an upload. */
export async function* bytesOf(...lines: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
}

export function requestOf(given: Partial<ImportRequest> = {}): ImportRequest {
  return { pigeonhole: '101', name: 'people.csv', ...given };
}

/** Returns the counts that are not 0. */
export function countsIn({ counts }: Pick<ImportView, 'counts'>): Partial<ImportView['counts']> {
  return Object.fromEntries(Object.entries(counts).filter(([, n]) => n > 0));
}

export async function problemsIn(desk: ImportDesk, id: string): Promise<ImportReportRow[]> {
  const all: ImportReportRow[] = [];
  for await (const rows of desk.report(id, 'problems', 'everything')) all.push(...rows);
  return all;
}

export async function textIn(parts: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of parts) text += part;
  return text;
}

/** Creates the drop folders of one process. Several processes can watch the same ones. */
export function dropFoldersIn(scene: Scene, folder: string, imports: readonly ImportFolder[]): DropFolders {
  const deps = { ...scene.deps, config: { ...scene.deps.config, folder, imports } };
  const wake = async (id: string): Promise<void> => void (await finish(scene, id));
  return new DropFolders({ editions: usedBy({ deps }), wake });
}
