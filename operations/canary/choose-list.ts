import type { NewCanary } from '../../delivering/canaries.js';
import type { Planned, Sink } from '../../sinks/sink.js';
import { type CanaryFacts, sentSubject } from './canary-subject.js';
import { inventedLists } from './invented-item.js';
import { nothingInWords } from './judge-canary.js';

/** `nothing`: it may well be meant so; `failed`: real items of the list fail in the same way. */
export type ChosenList =
  | { readonly kind: 'chosen'; readonly list: string }
  | { readonly kind: 'nothing' | 'failed'; readonly says: string };

/** The first list of which a sink makes something of an invented item; else what is in the way. */
export async function chooseList(
  sink: Pick<Sink, 'plan'>,
  draft: Omit<NewCanary, 'list'>,
  lists: readonly string[],
  facts: CanaryFacts,
): Promise<ChosenList> {
  const wanted = inventedLists.filter((list) => lists.includes(list));
  const [first] = wanted;
  if (first === undefined) return { kind: 'nothing', says: 'it takes nothing of this pigeonhole that can be invented' };
  const begunAt = new Date();
  const planned = await sink.plan(wanted.map((list) => sentSubject({ ...draft, list, begunAt, object: null }, facts)));
  const at = planned.findIndex(({ kind }) => kind === 'send');
  if (at >= 0) return { kind: 'chosen', list: wanted[at]! };
  const failed = planned.find((each): each is Extract<Planned, { kind: 'unplannable' }> => each.kind === 'unplannable');
  if (failed !== undefined) return { kind: 'failed', says: `its mapping fails: ${failed.detail}` };
  const reason = planned[0]?.kind === 'nothing' ? planned[0].reason : 'nothing';
  return { kind: 'nothing', says: nothingInWords(reason, first) };
}
