import { parseDocument } from 'yaml';
import { mappingKeysOf } from './check-mapping-text.js';
import { type ComparedDraft, type Current, listDrafts, ownText } from './drafts.js';

interface ReadMapping {
  readonly sink: string;
  readonly type: string;
  readonly keys: readonly string[];
  readonly text: string;
  readonly draft: ComparedDraft | null;
  readonly file: string;
  readonly writable: boolean;
}

/** Returns the mapping of a sink in the file of this process, and its draft; or a sentence if it has none. */
export async function readFileMapping(
  current: Current,
  sink: string,
): Promise<ReadMapping | { readonly unknown: string }> {
  const file = await ownText(current.config);
  const found = mappingKeysOf(file, sink);
  if ('unknown' in found) return found;
  const { drafts, writable } = await listDrafts(current);
  const { keys, text } = found;
  const type = String(parseDocument(file).getIn(['sinks', sink, 'type']));
  const draft = drafts.find((each) => each.sink === sink) ?? null;
  return { sink, type, keys, text, draft, file: current.config.file, writable };
}
