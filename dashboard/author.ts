/**
 * Returns the id of the attendee who created an item, as far as its content was shown; null: anonymous, or not shown. Pure.
 */
export function authorOf(data: Readonly<Record<string, unknown>> | null | undefined): number | null {
  const { attendeeId, attendee } = data ?? {};
  const nested = typeof attendee === 'object' && attendee !== null ? (attendee as { readonly id?: unknown }).id : null;
  const id = attendeeId ?? nested;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : null;
}
