/** What the stand-in for HubSpot holds, as far as the demo looks at it. */
export interface HubSpotState {
  /** Values by the name of the property. */
  readonly contacts: readonly Readonly<Record<string, string>>[];
  readonly marketingEvents: readonly { readonly externalEventId: string }[];
  /** Who takes part in which event. */
  readonly participations: readonly { readonly event: string; readonly email?: string; readonly state: string }[];
}

export async function hubSpotState(hubSpotUrl: string): Promise<HubSpotState> {
  const answer = await fetch(`${hubSpotUrl}/_double/state`, { signal: AbortSignal.timeout(30_000) });
  if (!answer.ok) throw new Error(`the stand-in for HubSpot answered HTTP ${answer.status} when asked what it holds`);
  return (await answer.json()) as HubSpotState;
}

/** In a few words, for a person. Pure. */
export function hubSpotSummary({ contacts, marketingEvents, participations }: HubSpotState): string {
  return `${contacts.length} contacts, ${participations.length} of them in ${marketingEvents.length} events`;
}
