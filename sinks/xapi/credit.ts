import { mappingView } from '../mapping/mapping-view.js';
import type { Fields, Subject } from '../sink.js';
import type { Activities } from './activities.js';
import type { CreditKeys } from './config.js';
import { type Activity, type Result, wellFormed, creditExtension } from './statement.js';

/** What was completed, and by what evidence. */
interface Credit {
  readonly object: Activity;
  readonly result: Result;
}

const counts = ['interactions', 'asked', 'answered', 'responded', 'voted', 'rated', 'offered'] as const;

/**
 * The credit that an item of `engagement` gives. Pure.
 * @param place where the keys stand, for messages: sink and key
 * @returns a code when it gives none
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

/** The interactions that an item of `engagement` names, as `<list>:<key>`. */
export function evidenceOf(item: Fields): string[] {
  const { evidence } = item;
  return Array.isArray(evidence) ? evidence.filter((each) => typeof each === 'string') : [];
}
