import type { Expression, MappingView } from './expression.js';
import { mentionedFields } from './mentioned-fields.js';

/** A view without any fields, which shows what an expression returns if an item has none of the fields. */
export const emptyView: MappingView = {
  item: null,
  previous: null,
  attendee: null,
  session: null,
  pigeonhole: null,
  change: {
    id: '00000000-0000-5000-8000-000000000000',
    type: 'engagement.created',
    timestamp: '2026-01-01T00:00:00.000Z',
    workspace: '',
    pigeonholeId: 0,
    sessionId: null,
    list: 'engagement',
    key: '',
    revision: 1,
    sequence: 1,
    data: null,
  },
};

/**
 * Describes the items for which an expression returns nothing; undefined if it finds none, or the expression fails.
 * @param read converts a value for the destination
 */
export async function emptyWhen(
  value: Expression,
  read: (found: unknown, key: string) => unknown,
): Promise<string | undefined> {
  const isEmpty = async (view: MappingView): Promise<boolean> => {
    try {
      return ((await value.evaluate(view, '', read)) ?? '') === '';
    } catch {
      return false; // a mapping that fails is reported for each item as a dead letter
    }
  };
  if (await isEmpty(viewOfText(value, 'Ada'))) return 'a field of one word, such as the name "Ada"';
  return (await isEmpty(emptyView)) ? 'an item without a value' : undefined;
}

/** Returns a view in which every field that the expression reads has the same text. */
function viewOfText(expression: Expression, text: string): MappingView {
  const view = { ...emptyView, item: {}, attendee: {}, session: {}, pigeonhole: {}, previous: {} };
  for (const mention of mentionedFields(expression)) {
    if (mention.of === 'change') continue;
    const [part, path] =
      mention.of === 'field' ? ['item' as const, mention.names.slice(0, 1)] : [mention.of, mention.path];
    set(view[part], path, text);
  }
  return view;
}

function set(object: Record<string, unknown>, [name, ...rest]: readonly string[], text: string): void {
  if (name === undefined) return;
  if (rest.length === 0) object[name] ??= text;
  else {
    if (typeof object[name] !== 'object') object[name] = {};
    set(object[name] as Record<string, unknown>, rest, text);
  }
}

/**
 * Returns a warning for each name field that a mapping always overwrites. If the destination finds people by e-mail,
 * they already have a name, which a user of the destination may have corrected. Pure.
 * @param path the path of the entry in the configuration
 */
export function nameWarnings(properties: Readonly<Record<string, { readonly write: string }>>, path: string): string[] {
  return Object.entries(properties)
    .filter(([field, { write }]) => /^(?:first|middle|last)name$/i.test(field) && write === 'always')
    .map(
      ([field]) =>
        `${path}.properties.${field}: "always" replaces the name of people who are found by e-mail; ` +
        'write it as { value: …, write: if-empty }',
    );
}
