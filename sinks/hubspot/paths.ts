/**
 * Where HubSpot's API has each call: the dated versions (`2026-09`) moved the version behind the name.
 * Source: HubSpot, "API versioning", and the reference of each endpoint.
 */
export class Paths {
  constructor(private readonly version: string) {}

  get #isDated(): boolean {
    return this.version !== 'v3';
  }

  /** @param call e.g. `batch/upsert` */
  objects(objectType: string, call: string): string {
    return this.#isDated
      ? `/crm/objects/${this.version}/${objectType}/${call}`
      : `/crm/v3/objects/${objectType}/${call}`;
  }

  properties(objectType: string): string {
    return this.#isDated ? `/crm/properties/${this.version}/${objectType}` : `/crm/v3/properties/${objectType}`;
  }

  /** Associations of two kinds of records: `batch/associate/default`, `batch/archive`, `batch/read`. */
  associations(from: string, to: string, call: string): string {
    return this.#isDated
      ? `/crm/associations/${this.version}/${from}/${to}/${call}`
      : `/crm/v4/associations/${from}/${to}/${call}`;
  }

  /** The definition of an object, with the properties that a new record needs. */
  schema(objectType: string): string {
    return this.#isDated
      ? `/crm-object-schemas/${this.version}/schemas/${objectType}`
      : `/crm/v3/schemas/${objectType}`;
  }

  /** @param call empty, or e.g. `/memberships/add` */
  list(listId: string, call: string): string {
    return this.#isDated ? `/crm/lists/${this.version}/${listId}${call}` : `/crm/v3/lists/${listId}${call}`;
  }

  /** @param call e.g. `events/upsert` */
  marketingEvents(call: string): string {
    return this.#isDated
      ? `/marketing/marketing-events/${this.version}/${call}`
      : `/marketing/v3/marketing-events/${call}`;
  }

  get accountDetails(): string {
    return this.#isDated ? `/account-info/${this.version}/details` : '/account-info/v3/details';
  }
}
