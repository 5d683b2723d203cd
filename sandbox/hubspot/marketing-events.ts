/** An event of another system. Only the app that created it finds it by its external ids; every app finds it by `id`. */
export interface MarketingEvent {
  readonly id: string;
  readonly appId: string;
  readonly externalAccountId: string;
  readonly externalEventId: string;
  fields: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  updatedAtMs: number;
}

export type AttendanceState = 'REGISTERED' | 'ATTENDED' | 'CANCELLED';

/**
 * One contact's participation in one event. `activities` lists the interactions in the order in which they were
 * recorded.
 */
export interface Participation {
  readonly id: string;
  readonly event: MarketingEvent;
  readonly contactId: string;
  state: AttendanceState;
  occurredAtMs: number;
  readonly createdAtMs: number;
  /** `joinedAt` and `leftAt`, as they were sent. */
  readonly properties: Record<string, string>;
  readonly activities: { readonly state: AttendanceState; readonly atMs: number }[];
}

/** Marketing events and their participants. Ids are ascending numbers, as text. */
export class MarketingEvents {
  private readonly events = new Map<string, MarketingEvent>();
  private readonly participations = new Map<string, Participation>();
  private lastId = 9000;

  constructor(private readonly now: () => number) {}

  find(appId: string, externalAccountId: string, externalEventId: string): MarketingEvent | undefined {
    return this.events.get(JSON.stringify([appId, externalAccountId, externalEventId]));
  }

  byId(id: string): MarketingEvent | undefined {
    return this.all().find((event) => event.id === id);
  }

  change(event: MarketingEvent, fields: Readonly<Record<string, unknown>>): void {
    event.fields = { ...event.fields, ...fields };
    event.updatedAtMs = this.now();
  }

  upsert(
    appId: string,
    externalAccountId: string,
    externalEventId: string,
    fields: Readonly<Record<string, unknown>>,
  ): MarketingEvent {
    const known = this.find(appId, externalAccountId, externalEventId);
    if (known !== undefined) {
      this.change(known, fields);
      return known;
    }
    const event: MarketingEvent = {
      id: this.nextId(),
      appId,
      externalAccountId,
      externalEventId,
      fields,
      createdAtMs: this.now(),
      updatedAtMs: this.now(),
    };
    this.events.set(JSON.stringify([appId, externalAccountId, externalEventId]), event);
    return event;
  }

  remove(event: MarketingEvent): void {
    this.events.delete(JSON.stringify([event.appId, event.externalAccountId, event.externalEventId]));
    for (const [key, { event: of }] of this.participations) if (of === event) this.participations.delete(key);
  }

  /** The latest interaction sets the state of a contact, but `REGISTERED` never replaces `ATTENDED`. */
  record(event: MarketingEvent, contactId: string, state: AttendanceState, atMs: number): Participation {
    const key = `${event.id} ${contactId}`;
    const participation = this.participations.get(key) ?? {
      id: this.nextId(),
      event,
      contactId,
      state,
      occurredAtMs: atMs,
      createdAtMs: this.now(),
      properties: {},
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

  /** Moves the participations of a merged contact. A participation that the other contact has already stays. */
  moveContact(contactId: string, to: string): void {
    const moving = [...this.participations.values()].filter((each) => each.contactId === contactId);
    for (const participation of moving) {
      this.participations.delete(`${participation.event.id} ${contactId}`);
      const key = `${participation.event.id} ${to}`;
      if (!this.participations.has(key)) this.participations.set(key, { ...participation, contactId: to });
    }
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
