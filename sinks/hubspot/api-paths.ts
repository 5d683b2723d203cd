import type { HubSpotConfig } from './config.js';

/**
 * The beginnings of the paths of HubSpot's API. In dated versions (`2026-09`), the version follows; in v3, it is part of
 * the path. Source: HubSpot, "API versioning", and the reference of each endpoint.
 */
const resources = {
  objects: { dated: '/crm/objects', v3: '/crm/v3/objects' },
  properties: { dated: '/crm/properties', v3: '/crm/v3/properties' },
  associations: { dated: '/crm/associations', v3: '/crm/v4/associations' },
  /** Definitions of objects, which list the properties that a new record requires. */
  schemas: { dated: '/crm-object-schemas', v3: '/crm/v3' },
  lists: { dated: '/crm/lists', v3: '/crm/v3/lists' },
  marketingEvents: { dated: '/marketing/marketing-events', v3: '/marketing/v3/marketing-events' },
  account: { dated: '/account-info', v3: '/account-info/v3' },
} as const;

/** A part of HubSpot's API. */
export type Resource = keyof typeof resources;

/** Returns the path of a call. @param call the rest of the path, e.g. `contacts/batch/upsert` */
export function apiPath({ apiVersion }: Pick<HubSpotConfig, 'apiVersion'>, resource: Resource, call: string): string {
  const { dated, v3 } = resources[resource];
  return `${apiVersion === 'v3' ? v3 : `${dated}/${apiVersion}`}/${call}`;
}
