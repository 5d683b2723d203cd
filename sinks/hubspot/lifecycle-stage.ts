/** The contact property that says how far a contact is on the way to becoming a customer. */
export const lifecycleStage = 'lifecyclestage';

/** HubSpot's default stages, in order. Source: HubSpot, "Lifecycle stages". */
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
 * Whether a contact may move to this stage. A contact only moves forward: someone who takes part in an event does not
 * stop being a customer. The position of a custom stage is not known, so it is written only to contacts without a
 * stage.
 */
export function mayMoveStage(from: string, to: string): boolean {
  if (from === '') return to !== '';
  const [fromIndex, toIndex] = [stages.indexOf(from), stages.indexOf(to)];
  return fromIndex !== -1 && toIndex > fromIndex;
}
