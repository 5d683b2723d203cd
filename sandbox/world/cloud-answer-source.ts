import { ID_STRIDE } from '../store/id-order.js';
import type { ItemSource } from '../store/item-table.js';
import { distinctIndex, instantInSession, isoInstant, placeInBlocks, sessionCopy } from './lookup.js';
import type { ResponseFacts, ResponsePlan } from './lookup.js';
import { draw, pick } from './random.js';
import { CLOUD_WORDS } from './word-pools.js';

export interface CloudAnswerFacts extends ResponseFacts {
  content: string;
  status: string;
}

/** Statuses of word-cloud answers. Only `approved` is documented. */
export const CLOUD_STATUSES = ['approved', 'pending', 'filtered'] as const;

/** Creates the source of answers to word clouds. */
export function createCloudAnswerSource(
  plan: ResponsePlan,
  layout: { firstId: number; perSession: number },
): ItemSource<CloudAnswerFacts> {
  const { seed, attendees, lookup } = plan;
  return {
    firstId: layout.firstId,
    blocks: plan.sessions.map((session) => ({ sessionId: session.id, count: layout.perSession })),
    facts(index) {
      const { session, turn } = placeInBlocks(plan.sessions, layout.perSession, index);
      const person = distinctIndex(turn, draw(seed, 50, session.id) % attendees.count, attendees.count);
      const moderated = draw(seed, 51, index) % 20;
      return {
        sessionId: session.id,
        attendeeId: attendees.firstId + person * ID_STRIDE,
        createdAtMs: instantInSession(seed, session, turn, layout.perSession),
        content: pick(CLOUD_WORDS, draw(seed, 52, index)),
        status: moderated < 18 ? 'approved' : moderated === 18 ? 'pending' : 'filtered',
      };
    },
    render: (id, facts) => ({
      attendeeId: facts.attendeeId,
      createdAt: isoInstant(facts.createdAtMs),
      session: sessionCopy(lookup, facts.sessionId),
      answer: { id, content: facts.content, status: facts.status },
    }),
    fields: ({ sessionId, attendeeId, status }) => ({ sessionId, attendeeId, status }),
  };
}
