import type { Join } from '../sink.js';
import type { Expression } from './expression.js';
import { mentionedFields } from './mentioned-fields.js';

/** What has to be read for these expressions beside the items themselves: for `SinkType.joins`. */
export function joinsOf(expressions: readonly Expression[]): Join[] {
  const mentioned = new Set(expressions.flatMap((each) => mentionedFields(each).map(({ of }) => of)));
  return [
    ...(mentioned.has('attendee') || mentioned.has('field') ? (['attendees'] as const) : []),
    ...(mentioned.has('session') ? (['sessions'] as const) : []),
    ...(mentioned.has('pigeonhole') ? (['pigeonholes'] as const) : []),
  ];
}
