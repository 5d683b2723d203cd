import { z } from '@hono/zod-openapi';
import { instant } from './route-parts.js';

/** Who paused something, why and since when. */
export const pauseViewSchema = z
  .object({
    pausedBy: z
      .enum(['person', 'cause'])
      .describe('`person`: only a person lifts it; `cause`: it is also lifted when the cause is gone.'),
    cause: z.string().describe('Stable, for programs: `credential`, `destination`, `gone`, `restored`, `asked`, …'),
    actor: z.string().nullable(),
    reason: z.string(),
    since: instant(),
  })
  .openapi('Pause');
export type PauseView = z.infer<typeof pauseViewSchema>;

/** What an observing sink would have done by now. */
const observationViewSchema = z.object({
  wouldSend: z.int(),
  wouldSendAnonymously: z.int().describe('And these without the person who did it.'),
  wouldWithhold: z.record(z.string(), z.int()).readonly().describe('By reason.'),
  behind: z.int().describe('Changes not looked at yet.'),
});
export type ObservationView = z.infer<typeof observationViewSchema>;

const approvalViewSchema = z.object({
  approvedBy: z.string().nullable(),
  reason: z.string().nullable(),
  since: instant(),
});

const replayViewSchema = z.object({
  id: z.string(),
  requestedBy: z.string().nullable(),
  reason: z.string().nullable(),
  since: instant(),
  taken: z.int().describe('Items taken by now.'),
  open: z.int().describe('Of these, still on their way.'),
});

/** The part of a sink's view that rests on what people have asked of it. */
export const operatedSinkSchema = z.object({
  mode: z.enum(['send', 'observe']),
  observation: observationViewSchema.nullable().describe('Null for a sink that sends, and always has.'),
  approval: approvalViewSchema.nullable().describe('Of a sink that observes: it may send all the same.'),
  replays: z.array(replayViewSchema).readonly(),
});
export type OperatedSink = z.infer<typeof operatedSinkSchema>;
