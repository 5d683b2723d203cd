/**
 * Lists whose items are a person's own record: without them nothing of it would be left, or what is left would tie
 * together what else is told without them. They go out with their person or not at all.
 */
export const ownRecords: ReadonlySet<string> = new Set(['attendees', 'engagement', 'registrants']);
