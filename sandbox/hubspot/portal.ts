import { HubSpotRefusal } from './call.js';
import { LIFECYCLE_STAGES, type ObjectType } from './object-type.js';
import { brokenRules, refusalOf, storedValue, validateProperties } from './validate-properties.js';

/** The author of a change of a property: an app over the API, or a user on HubSpot's pages. Documented: "Property history". */
export interface ChangeSource {
  readonly sourceType: 'INTEGRATION' | 'CRM_UI';
  readonly sourceId: string;
  readonly updatedByUserId?: number;
}

interface HistoryEntry extends ChangeSource {
  readonly value: string;
  readonly timestamp: string;
}

/** Changes that do not come over the API are those of this user. */
const COLLEAGUE: ChangeSource = { sourceType: 'CRM_UI', sourceId: 'userId:7001', updatedByUserId: 7001 };

/** A record of any object type. */
export interface CrmRecord {
  readonly id: string;
  readonly type: ObjectType;
  /** Excludes values that HubSpot sets itself, and cleared values. */
  readonly values: Map<string, string>;
  /** Newest first, as `propertiesWithHistory` returns it. */
  readonly history: Map<string, HistoryEntry[]>;
  readonly createdAtMs: number;
  updatedAtMs: number;
  archivedAtMs: number | undefined;
}

/**
 * The records of one HubSpot account. A refused change has no effect. A batch that must be all or nothing runs
 * in `atomically`. Ids are ascending numbers, as text, and the same in each run.
 */
export class Portal {
  private readonly records = new Map<string, CrmRecord>();
  /** Ids of live records by `<type> <property>` and value in lower case. */
  private readonly unique = new Map<string, Map<string, string>>();
  private readonly merged = new Map<string, { readonly into: string; readonly redirects: boolean }>();
  /** Reverts the changes of the running batch; none if no batch runs. */
  private undo: (() => void)[] | undefined;
  private lastId = 500;
  private source = COLLEAGUE;

  constructor(private readonly now: () => number) {}

  /** Returns the live records of a type, oldest first. */
  all(type: ObjectType): CrmRecord[] {
    return [...this.records.values()].filter((record) => record.type === type && record.archivedAtMs === undefined);
  }

  /** Returns the live record with this id. For a merged record, returns the surviving one if the merge redirects. */
  byId(type: ObjectType, id: string): CrmRecord | undefined {
    const merged = this.merged.get(id);
    if (merged !== undefined) return merged.redirects ? this.byId(type, merged.into) : undefined;
    const record = this.records.get(id);
    return record?.type === type && record.archivedAtMs === undefined ? record : undefined;
  }

  /** Finds a live record by a unique property. Ignores the case of e-mails and checks additional e-mails too. */
  byUnique(type: ObjectType, property: string, value: string): CrmRecord | undefined {
    const id = this.unique.get(`${type.name} ${property}`)?.get(value.toLowerCase());
    return id === undefined ? undefined : this.byId(type, id);
  }

  /**
   * @param enforced whether the administrator's rules apply, as they do from version 2026-09 on
   * @throws {HubSpotRefusal} 400 for invalid or missing values, 409 if another record has a unique value
   */
  create(type: ObjectType, values: Readonly<Record<string, string>>, enforced = false): CrmRecord {
    const problems = [
      ...validateProperties(type.properties, values),
      ...(enforced ? brokenRules(type, values, new Map(), true) : []),
    ];
    if (problems.length > 0) throw refusalOf(problems);
    const missing = type.required.filter((name) => (values[name] ?? '') === '');
    if (missing.length > 0) {
      throw new HubSpotRefusal(400, 'VALIDATION_ERROR', 'Some required properties were not set.', [
        {
          message: `${missing.join(', ')} required`,
          code: 'REQUIRED_PROPERTIES_NOT_SET',
          context: { properties: missing },
        },
      ]);
    }
    const taken = this.takenBy(type, values, undefined);
    if (taken !== undefined) {
      throw new HubSpotRefusal(
        409,
        'CONFLICT',
        `${capitalised(type.singular)} already exists. Existing ID: ${taken.record.id}`,
        [],
        { existingId: [taken.record.id] },
      );
    }
    this.lastId += 1;
    const nowMs = this.now();
    const record: CrmRecord = {
      id: String(this.lastId),
      type,
      values: new Map(),
      history: new Map(),
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      archivedAtMs: undefined,
    };
    this.records.set(record.id, record);
    this.undo?.push(() => this.records.delete(record.id));
    this.set(record, values);
    return record;
  }

  /** @throws {HubSpotRefusal} 400 for invalid values, and if another record has a unique value */
  update(record: CrmRecord, values: Readonly<Record<string, string>>, enforced = false): void {
    const problems = [
      ...validateProperties(record.type.properties, values),
      ...(enforced ? brokenRules(record.type, values, record.values, false) : []),
    ];
    if (problems.length > 0) throw refusalOf(problems);
    const taken = this.takenBy(record.type, values, record);
    if (taken !== undefined) {
      const message = `Cannot set PropertyValueCoordinates{objectTypeId=ObjectTypeId{legacyObjectType=${record.type.singular}}, propertyName=${taken.property}, value=${taken.value}} on ${record.id}. ${taken.record.id} already has that value.`;
      throw new HubSpotRefusal(400, 'VALIDATION_ERROR', message, [
        { message, code: 'CONFLICTING_UNIQUE_VALUE', context: { propertyName: [taken.property] } },
      ]);
    }
    this.set(record, values);
  }

  archive(record: CrmRecord): void {
    record.archivedAtMs = this.now();
    this.index(record, (entries, value) => entries.delete(value));
  }

  /** Restores a record from the recycle bin, as a user does. */
  restore(record: CrmRecord): void {
    record.archivedAtMs = undefined;
    this.index(record, (entries, value) => entries.set(value, record.id));
  }

  /** Makes changes as an app over the API. */
  asApp<T>(appId: string, change: () => T): T {
    this.source = { sourceType: 'INTEGRATION', sourceId: appId };
    try {
      return change();
    } finally {
      this.source = COLLEAGUE;
    }
  }

  /** Deletes a record permanently, without a trace in the recycle bin. */
  erase(record: CrmRecord): void {
    this.archive(record);
    this.records.delete(record.id);
  }

  /** Merges records as a person does in HubSpot: `gone` is deleted, and `kept` gets its e-mails as additional ones. */
  merge(kept: CrmRecord, gone: CrmRecord, redirects: boolean): void {
    const additional = ({ values }: CrmRecord) => values.get('hs_additional_emails');
    const emails = [additional(kept), gone.values.get('email'), additional(gone)].filter((email) => email);
    this.erase(gone);
    this.merged.set(gone.id, { into: kept.id, redirects });
    this.index(kept, (entries, value) => entries.delete(value));
    kept.values.set('hs_additional_emails', emails.join(';'));
    this.index(kept, (entries, value) => entries.set(value, kept.id));
  }

  /** Runs a change and reverts it completely if it throws. Calls cannot be nested. */
  atomically<T>(change: () => T): T {
    const undo: (() => void)[] = [];
    this.undo = undo;
    try {
      return change();
    } catch (error) {
      for (const takeBack of undo.toReversed()) takeBack();
      throw error;
    } finally {
      this.undo = undefined;
    }
  }

  /** Adds a step to run if the current batch is refused. No effect without a batch. */
  onTakeBack(takeBack: () => void): void {
    this.undo?.push(takeBack);
  }

  private set(record: CrmRecord, values: Readonly<Record<string, string>>): void {
    const before = new Map(record.values);
    const history = new Map([...record.history].map(([name, entries]) => [name, [...entries]]));
    const updatedAtMs = record.updatedAtMs;
    this.undo?.push(() => {
      this.index(record, (entries, value) => entries.delete(value));
      record.values.clear();
      for (const [name, value] of before) record.values.set(name, value);
      record.history.clear();
      for (const [name, entries] of history) record.history.set(name, entries);
      if (this.records.has(record.id)) this.index(record, (entries, value) => entries.set(value, record.id));
      record.updatedAtMs = updatedAtMs;
    });
    this.index(record, (entries, value) => entries.delete(value));
    for (const [name, raw] of Object.entries(values)) this.setOne(record, name, raw);
    this.index(record, (entries, value) => entries.set(value, record.id));
    record.updatedAtMs = this.now();
  }

  private setOne(record: CrmRecord, name: string, raw: string): void {
    const value = storedValue(record.type.properties.get(name)!, raw);
    if (name === 'lifecyclestage' && movesBackwards(record.values.get(name), value)) return; // ignored without an error
    const history = record.history.get(name) ?? [];
    history.unshift({ value, timestamp: new Date(this.now()).toISOString(), ...this.source });
    record.history.set(name, history);
    if (value === '') record.values.delete(name);
    else record.values.set(name, value);
  }

  private takenBy(
    type: ObjectType,
    values: Readonly<Record<string, string>>,
    except: CrmRecord | undefined,
  ): { record: CrmRecord; property: string; value: string } | undefined {
    for (const property of uniqueProperties(type)) {
      const value = values[property];
      const record = value ? this.byUnique(type, property, value) : undefined;
      if (record !== undefined && record !== except) return { record, property, value: value! };
    }
    return undefined;
  }

  private index(record: CrmRecord, change: (entries: Map<string, string>, value: string) => void): void {
    for (const property of uniqueProperties(record.type)) {
      const key = `${record.type.name} ${property}`;
      const entries = this.unique.get(key) ?? new Map<string, string>();
      this.unique.set(key, entries);
      for (const value of uniqueValues(record, property)) change(entries, value);
    }
  }
}

/** Returns the properties that identify at most one record. A contact's e-mail needs no flag. */
export function uniqueProperties(type: ObjectType): string[] {
  return [...type.properties.values()]
    .filter(({ name, hasUniqueValue }) => name !== 'hs_object_id' && (hasUniqueValue || isContactEmail(type, name)))
    .map(({ name }) => name);
}

function isContactEmail(type: ObjectType, property: string): boolean {
  return type.name === 'contacts' && property === 'email';
}

function uniqueValues(record: CrmRecord, property: string): string[] {
  const own = record.values.get(property);
  const additional = property === 'email' ? (record.values.get('hs_additional_emails') ?? '').split(';') : [];
  return [own ?? '', ...additional].filter((value) => value !== '').map((value) => value.toLowerCase());
}

/** Documented for the contacts API: the stage moves only forwards until it is cleared. */
function movesBackwards(from: string | undefined, to: string): boolean {
  return from !== undefined && to !== '' && LIFECYCLE_STAGES.indexOf(to) < LIFECYCLE_STAGES.indexOf(from);
}

function capitalised(singular: string): string {
  return singular.charAt(0) + singular.slice(1).toLowerCase();
}

/** The requested properties. */
export interface Wanted {
  readonly properties: readonly string[];
  readonly withHistory?: readonly string[];
}

/** Returns the properties that HubSpot sets and includes in every answer. */
export function systemValues(record: CrmRecord): Record<string, string> {
  const lastModified = record.type.properties.has('lastmodifieddate') ? 'lastmodifieddate' : 'hs_lastmodifieddate';
  return {
    createdate: new Date(record.createdAtMs).toISOString(),
    hs_object_id: record.id,
    [lastModified]: new Date(record.updatedAtMs).toISOString(),
  };
}

/** Returns a record as in an answer: known properties without a value are null, and unknown ones are omitted. */
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
          wanted.withHistory.map((name) => [name, record.history.get(name) ?? []]),
        ),
      }),
    createdAt: new Date(record.createdAtMs).toISOString(),
    updatedAt: new Date(record.updatedAtMs).toISOString(),
    archived: record.archivedAtMs !== undefined,
    ...(record.archivedAtMs !== undefined && { archivedAt: new Date(record.archivedAtMs).toISOString() }),
  };
}
