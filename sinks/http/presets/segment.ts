import type { Preset } from '../keys.js';

/** Sends a track event to Segment for each item. Sources: sinks/http/README.md, "Segment". */
export const segment: Preset = {
  name: 'segment',
  title: 'Segment',
  settings: {
    baseUrl: 'https://api.segment.io/v1',
    auth: { type: 'basic' },
    batch: { size: 100 },
    maxBytes: 500_000,
  },
  record: {
    requires: ['userId', 'event'],
    on: ['create'],
    create: {
      url: '"/batch"',
      // Segment drops a second event with the same messageId, so a repeat is harmless.
      body: `{
        "type": "track",
        "messageId": change.id,
        "userId": $string(properties.userId),
        "event": properties.event,
        "timestamp": properties.timestamp ? properties.timestamp : change.timestamp,
        "properties": properties.properties
      }`,
      batch: '{ "batch": items }',
    },
  },
};
