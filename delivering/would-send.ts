import type { Queryable } from '../ledger/drivers/database.js';
import type { Operation, Sink, Subject } from '../sinks/sink.js';
import type { PigeonholeName } from '../cycles/cycle-results.js';
import type { Candidate } from './candidates.js';
import { decideDelivery, type DecidingSink, shownChanges } from './decide-delivery.js';
import type { SinkMapping } from './missing-values.js';
import { planChanges, readSubjects } from './plan-changes.js';

/** A lane of a sink, as far as it decides what the sink receives. */
export interface ForeseenLane extends Pick<DecidingSink, 'lists' | 'accepts' | 'selected' | 'onConsentWithdrawn'> {
  /** 0 for a sink that is not in the ledger. */
  readonly sinkId: number;
  readonly pigeonholeNumber: number;
  readonly place: PigeonholeName;
  readonly sink: Pick<Sink, 'plan' | 'traits'>;
  readonly mapping: SinkMapping;
}

/** Result for one change. */
export type Foreseen =
  | {
      readonly kind: 'send';
      readonly operation: Operation;
      /** Whether the operation may contain the identity of the item's person; true also for an item without a person. */
      readonly identity: boolean;
    }
  /** @property by `rules`: consent, the selection and the lists of the lane; `mapping`: the plan of the sink */
  | { readonly kind: 'withhold'; readonly by: 'rules' | 'mapping'; readonly reason: string }
  | { readonly kind: 'supersede' }
  /** The mapping fails, so the change would become a dead letter. */
  | { readonly kind: 'fail'; readonly cause: string; readonly detail: string };

/**
 * Returns what a sink would receive for each of these changes, in the same order, with the code that sends them: the
 * rules of the lane, then the sink's own plan. Previews, plans of a configuration, the readiness of an event and
 * observing sinks show its results. Sends and stores nothing. It assumes that an operator confirms all removals of
 * people who withdrew consent.
 */
export async function wouldSend(
  tx: Queryable,
  lane: ForeseenLane,
  candidates: readonly Candidate[],
): Promise<Foreseen[]> {
  const { sinkId, pigeonholeNumber, place, sink, accepts, mapping } = lane;
  const { traits } = sink;
  const terms = termsOf(lane);
  const decisions = candidates.map((candidate) => decideDelivery(candidate, terms));
  const sending = shownChanges(candidates, decisions);
  const planned = await planChanges(tx, sink, { sinkId, pigeonholeNumber, place, traits, accepts, mapping }, sending);
  return decisions.map((decision): Foreseen => {
    switch (decision.kind) {
      case 'withhold':
        return { kind: 'withhold', by: 'rules', reason: decision.reason };
      case 'park':
        return { kind: 'withhold', by: 'rules', reason: decision.cause };
      case 'supersede':
        return { kind: 'supersede' };
      case 'send': {
        const plan = planned.shift()!;
        if (plan.kind === 'nothing') return { kind: 'withhold', by: 'mapping', reason: plan.reason };
        if (plan.kind === 'unplannable') return { kind: 'fail', cause: plan.cause, detail: plan.detail };
        return { kind: 'send', operation: plan.operation, identity: decision.identity };
      }
    }
  });
}

/** Returns the data with which the sink plans a change; null if the rules of the lane withhold it. */
export async function subjectOf(tx: Queryable, lane: ForeseenLane, candidate: Candidate): Promise<Subject | null> {
  const sending = shownChanges([candidate], [decideDelivery(candidate, termsOf(lane))]);
  const [subject] = await readSubjects(tx, { ...lane, traits: lane.sink.traits }, sending);
  return subject ?? null;
}

function termsOf({ sink, lists, accepts, selected, onConsentWithdrawn }: ForeseenLane): DecidingSink {
  const { revisions } = sink.traits;
  return { lists, accepts, revisions, selected, onConsentWithdrawn, mayForget: () => true };
}
