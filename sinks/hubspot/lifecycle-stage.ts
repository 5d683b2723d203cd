/** The contact property that tells how far someone is on the way to being a customer. */
export const lifecycleStage = 'lifecyclestage';

/** HubSpot's own stages, in their order. Source: HubSpot, "Lifecycle stages". */
const stages = [
  'subscriber',
  'lead',
  'marketingqualifiedlead',
  'salesqualifiedlead',
  'opportunity',
  'customer',
  'evangelist',
];

/**
 * Whether a contact may be given this stage: only forward, since an event says nothing about a customer ceasing to be
 * one. A stage that an account has made itself has no known place, so it is written to contacts without any alone.
 */
export function mayMoveStage(from: string, to: string): boolean {
  if (from === '') return to !== '';
  const [fromIndex, toIndex] = [stages.indexOf(from), stages.indexOf(to)];
  return fromIndex !== -1 && toIndex > fromIndex;
}
