import { z } from 'zod';

/**
 * The change envelope, written from docs/change-envelope.md and not from the sender's types, so that a mistake in the sender
 * is found here. Strict: an unknown field is a mistake as well.
 */
export const receivedChangeSchema = z
  .strictObject({
    id: z.uuid(),
    type: z.string(),
    timestamp: z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
    workspace: z.string().min(1),
    pigeonholeId: z.int().min(0),
    sessionId: z.int().min(0).nullable(),
    list: z.string().regex(/^[a-z][a-z_-]*$/),
    key: z.string().min(1),
    revision: z.int().min(1),
    sequence: z.int().min(1),
    data: z.record(z.string(), z.unknown()).nullable(),
    replay: z.string().min(1).optional(),
  })
  .refine(({ type, list }) => ['created', 'updated', 'deleted'].some((kind) => type === `${list}.${kind}`), {
    path: ['type'],
    error: 'is not the list and one of created, updated, deleted',
  })
  .refine(({ type, data }) => type.endsWith('.deleted') === (data === null), {
    path: ['data'],
    error: 'is null for a deletion and for nothing else',
  })
  .refine(({ data }) => data === null || !Object.hasOwn(data, 'links'), {
    path: ['data', 'links'],
    error: 'opens pages of the event for anyone and must not be sent',
  })
  .refine(({ list, data }) => list !== 'pigeonholes' || data === null || !Object.hasOwn(data, 'passcode'), {
    path: ['data', 'passcode'],
    error: 'lets anyone into the event and must not be sent',
  });

export type ReceivedChange = z.output<typeof receivedChangeSchema>;
