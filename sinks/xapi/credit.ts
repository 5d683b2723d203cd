import { mappingView } from '../mapping/expression.js';
import type { Fields, Subject } from '../sink.js';
import type { Activities } from './activities.js';
import type { CreditKeys } from './config.js';
import { type Activity, type Result, wellFormed, creditExtension } from './statement.js';

/** The completed activity and the evidence for it. */
interface Credit {
  readonly object: Activity;
  readonly result: Result;
}

const counts = ['interactions', 'asked', 'answered', 'responded', 'voted', 'rated', 'offered'] as const;

/**
 * Returns the credit that an item of `engagement` earns, or a code if it earns none. Pure.
 * @param place path of the keys, for messages: sink and key
 * @throws {MappingError} when an expression fails for this item
 */
export async function creditOf(
  subject: Subject,
  keys: CreditKeys,
  activities: Activities,
  place: string,
): Promise<Credit | string> {
  const view = mappingView(subject);
  if (!(await keys.when.holds(view, `${place}.when`))) return 'condition';
  const name = await keys.activity.evaluate(view, `${place}.activity`);
  const text = typeof name === 'number' ? String(name) : name;
  if (typeof text !== 'string' || text.trim() === '') return 'no-activity';
  const item = subject.change.data ?? {};
  return {
    object: activities.credited(wellFormed(text.trim())),
    result: {
      completion: true,
      extensions: {
        [creditExtension]: {
          version: keys.version,
          scope: item['scope'],
          rule: item['rule'],
          ...Object.fromEntries(counts.map((count) => [count, item[count]])),
          evidence: evidenceOf(item),
        },
      },
    },
  };
}

/** Returns the interactions that an item of `engagement` names, as `<list>:<key>`. */
export function evidenceOf(item: Fields): string[] {
  const { evidence } = item;
  return Array.isArray(evidence) ? evidence.filter((each) => typeof each === 'string') : [];
}
