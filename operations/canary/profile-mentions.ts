import { expressionsIn } from '../../sinks/mapping/expression-schema.js';
import { mentionedFields } from '../../sinks/mapping/mentioned-fields.js';

/** Names at the top of items and attendees that a sink's expressions read, each once: profile fields among them. Pure. */
export function profileMentions(settings: unknown): string[] {
  const names = expressionsIn(settings).flatMap(({ expression }) =>
    mentionedFields(expression).flatMap((mention): readonly string[] => {
      if (mention.of === 'field') return mention.names;
      const isOfPerson = mention.of === 'item' || mention.of === 'attendee';
      return isOfPerson && mention.path.length === 1 ? mention.path : [];
    }),
  );
  return [...new Set(names)];
}
