import type { CrmRecord } from './portal.js';

/** The properties of an answer. */
export interface Wanted {
  readonly properties: readonly string[];
  readonly withHistory?: readonly string[];
}

/** HubSpot's own properties of a record, which stand in every answer. */
export function systemValues(record: CrmRecord): Record<string, string> {
  const lastModified = record.type.properties.has('lastmodifieddate') ? 'lastmodifieddate' : 'hs_lastmodifieddate';
  return {
    createdate: new Date(record.createdAtMs).toISOString(),
    hs_object_id: record.id,
    [lastModified]: new Date(record.updatedAtMs).toISOString(),
  };
}

/** A record as answered: known properties without a value are null, unknown ones are left out without a word. */
export function recordJson(record: CrmRecord, wanted: Wanted): Record<string, unknown> {
  const asked = wanted.properties.filter((name) => record.type.properties.has(name));
  return {
    id: record.id,
    properties: {
      ...Object.fromEntries(asked.map((name) => [name, record.values.get(name) ?? null])),
      ...systemValues(record),
    },
    ...(wanted.withHistory !== undefined &&
      wanted.withHistory.length > 0 && {
        propertiesWithHistory: Object.fromEntries(
          wanted.withHistory.map((name) => [
            name,
            (record.history.get(name) ?? []).map((entry) => ({ ...entry, sourceType: 'INTEGRATION' })),
          ]),
        ),
      }),
    createdAt: new Date(record.createdAtMs).toISOString(),
    updatedAt: new Date(record.updatedAtMs).toISOString(),
    archived: record.archivedAtMs !== undefined,
    ...(record.archivedAtMs !== undefined && { archivedAt: new Date(record.archivedAtMs).toISOString() }),
  };
}

/** Properties of an answer if none were requested: those that every portal shows first. */
export const DEFAULT_PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  contacts: ['email', 'firstname', 'lastname'],
  notes: [],
};
