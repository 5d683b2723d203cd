/** An event of an outside system, found by the pair of its external ids. */
export interface MarketingEvent {
  readonly id: string;
  readonly externalAccountId: string;
  readonly externalEventId: string;
  fields: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  updatedAtMs: number;
}

export type AttendanceState = 'REGISTERED' | 'ATTENDED' | 'CANCELLED';

/** What one contact is to one event, and what was recorded of it in which order. */
export interface Participation {
  readonly id: string;
  readonly event: MarketingEvent;
  readonly contactId: string;
  state: AttendanceState;
  occurredAtMs: number;
  readonly createdAtMs: number;
  readonly activities: { readonly state: AttendanceState; readonly atMs: number }[];
}

/** Marketing events and who took part. Ids are numbers that rise, as text. */
export class MarketingEvents {
  private readonly events = new Map<string, MarketingEvent>();
  private readonly participations = new Map<string, Participation>();
  private lastId = 9000;

  constructor(private readonly now: () => number) {}

  find(externalAccountId: string, externalEventId: string): MarketingEvent | undefined {
    return this.events.get(JSON.stringify([externalAccountId, externalEventId]));
  }

  upsert(
    externalAccountId: string,
    externalEventId: string,
    fields: Readonly<Record<string, unknown>>,
  ): MarketingEvent {
    const known = this.find(externalAccountId, externalEventId);
    if (known !== undefined) {
      known.fields = { ...known.fields, ...fields };
      known.updatedAtMs = this.now();
      return known;
    }
    const event: MarketingEvent = {
      id: this.nextId(),
      externalAccountId,
      externalEventId,
      fields,
      createdAtMs: this.now(),
      updatedAtMs: this.now(),
    };
    this.events.set(JSON.stringify([externalAccountId, externalEventId]), event);
    return event;
  }

  remove(event: MarketingEvent): void {
    this.events.delete(JSON.stringify([event.externalAccountId, event.externalEventId]));
    for (const [key, { event: of }] of this.participations) if (of === event) this.participations.delete(key);
  }

  /** The latest interaction says what a contact is to the event; who attended stays so when registered again. */
  record(event: MarketingEvent, contactId: string, state: AttendanceState, atMs: number): Participation {
    const key = `${event.id} ${contactId}`;
    const participation = this.participations.get(key) ?? {
      id: this.nextId(),
      event,
      contactId,
      state,
      occurredAtMs: atMs,
      createdAtMs: this.now(),
      activities: [],
    };
    this.participations.set(key, participation);
    participation.activities.push({ state, atMs });
    const lowers = participation.state === 'ATTENDED' && state === 'REGISTERED';
    if (atMs >= participation.occurredAtMs && !lowers) {
      participation.state = state;
      participation.occurredAtMs = atMs;
    }
    return participation;
  }

  participationsOf(event: MarketingEvent): Participation[] {
    return [...this.participations.values()].filter((participation) => participation.event === event);
  }

  all(): MarketingEvent[] {
    return [...this.events.values()];
  }

  private nextId(): string {
    this.lastId += 1;
    return String(this.lastId);
  }
}
