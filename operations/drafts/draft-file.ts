import { parseDocument } from 'yaml';
import { isDeepStrictEqual } from 'node:util';
import { sinkForms } from '../../sinks/all-forms.js';
import type { SinkTypeName } from '../../sinks/all-reasons.js';
import { addSink } from './add-sink.js';
import { mappingKeysOf } from './check-mapping-text.js';
import type { DraftContent } from '../../ledger/configuration-drafts.js';
import { replaceMapping } from './mapping-text.js';

/** The text of the configuration file with a draft. */
export type DraftedFile =
  | { readonly kind: 'changed'; readonly text: string }
  /** The file already contains the draft. */
  | { readonly kind: 'contained' }
  /** The file no longer fits the draft. */
  | { readonly kind: 'conflict'; readonly says: string };

/** Returns the text of a configuration file with a draft, without a change of anything else in it. Pure. */
export function fileWithDraft(file: string, draft: DraftContent): DraftedFile {
  return draft.kind === 'mapping' ? withMapping(file, draft) : withSink(file, draft);
}

function withMapping(file: string, { sink, body, base }: DraftContent): DraftedFile {
  const found = mappingKeysOf(file, sink);
  if ('unknown' in found) return { kind: 'conflict', says: found.unknown };
  if (isSameText(found.text, body)) return { kind: 'contained' };
  if (!isSameText(found.text, base ?? '')) {
    return {
      kind: 'conflict',
      says: `the mapping of sink ${sink} in the file has changed since this draft was started: open the mapping, compare, and save the draft again`,
    };
  }
  const placed = replaceMapping(file, { sink, keys: found.keys, text: body });
  return placed === null ? { kind: 'conflict', says: found.notReplaced } : { kind: 'changed', text: placed.file };
}

function withSink(file: string, { sink, body, sync }: DraftContent): DraftedFile {
  const document = parseDocument(file, { prettyErrors: false });
  const present: unknown =
    document.errors.length > 0 ? undefined : (document.toJS() as { sinks?: Record<string, unknown> })?.sinks?.[sink];
  if (present !== undefined) {
    if (isDeepStrictEqual(present, parseDocument(body).toJS())) return { kind: 'contained' };
    return {
      kind: 'conflict',
      says: `the file already has another sink named ${sink}: discard this draft, or rename the sink in the file`,
    };
  }
  const lines = body.trimEnd().split('\n');
  const text = addSink(file, sync!, { name: sink, comment: commentFor(body), lines });
  if (text !== null) return { kind: 'changed', text };
  return {
    kind: 'conflict',
    says: `the form of the file is not supported: add the lines of the draft to "sinks", and "${sink}" to the sinks of sync ${sync}`,
  };
}

/** Returns the comment beside the name of a new sink. */
function commentFor(body: string): string {
  const type: unknown = parseDocument(body).get('type');
  const form = typeof type === 'string' && Object.hasOwn(sinkForms, type) ? sinkForms[type as SinkTypeName] : undefined;
  return form?.makes ?? 'connected on the page';
}

function isSameText(one: string, other: string): boolean {
  return one.trimEnd() === other.trimEnd();
}
