import {
  type AssignmentRule,
  byHand,
  checkRecord,
  type DuplicateRule,
  type SaveOptions,
  type ValidationRule,
} from './record-rules.js';
import { readValues, type Values, recordId, normalisedId } from './read-values.js';
import { SalesforceRefusal } from './call.js';
import { fieldNamed, typeNamed, type SObjectType, type FieldDefinition } from './sobject-type.js';

/** A stored record. Its values include the fields that Salesforce sets. */
export interface OrgRecord {
  readonly id: string;
  readonly type: SObjectType;
  values: Values;
  deleted: boolean;
}

/** Records that are deleted together with another record: the object, and the field that refers to the other record. */
const DEPENDENTS = [
  ['CampaignMember', 'CampaignId'],
  ['CampaignMember', 'LeadId'],
  ['CampaignMember', 'ContactId'],
  ['Task', 'WhoId'],
  ['CampaignMemberStatus', 'CampaignId'],
] as const;

/** The default owner of records, unless a rule assigns them to another user. */
export const USER_ID = '0058d0000000001AAA';
/** A colleague, who makes all changes that do not come over the API. */
export const COLLEAGUE_ID = '0058d0000000002AAA';
const OWNERS = new Set(['Lead', 'Contact', 'Campaign', 'Account', 'Task']);

/**
 * Stores the records of an org and checks changes. A refused change has no effect. Ids ascend and are the same in each
 * run.
 */
export class Org {
  private readonly records = new Map<string, OrgRecord>();
  private readonly index = new RecordIndex();
  private lastNumber = 0;
  private userId = COLLEAGUE_ID;

  constructor(
    readonly types: readonly SObjectType[],
    readonly validationRules: readonly ValidationRule[],
    readonly duplicateRules: readonly DuplicateRule[],
    readonly assignmentRules: readonly AssignmentRule[],
    private readonly now: () => number,
  ) {}

  /** Returns the records of a type, oldest first. @param withDeleted whether to include those in the recycle bin */
  all(type: SObjectType, { withDeleted = false }: { readonly withDeleted?: boolean } = {}): OrgRecord[] {
    return withDeleted
      ? [...this.records.values()].filter((record) => record.type === type)
      : [...this.index.all(type)];
  }

  /** @throws {SalesforceRefusal} 404 if the org has no object with this name */
  type(name: string): SObjectType {
    const type = typeNamed(this.types, name);
    if (type === undefined) throw new SalesforceRefusal('NOT_FOUND', 'The requested resource does not exist', [], 404);
    return type;
  }

  byId(id: string): OrgRecord | undefined {
    const record = this.records.get(normalisedId(id) ?? '');
    return record?.deleted === false ? record : undefined;
  }

  /**
   * Returns the live records with this value in a field. Ignores the case of texts.
   */
  having(type: SObjectType, fieldName: string, value: unknown): OrgRecord[] {
    const definition = fieldNamed(type, fieldName)!;
    if (definition.type === 'id') {
      const record = this.byId(String(value));
      return record?.type === type ? [record] : [];
    }
    const wanted = comparable(definition, value);
    return (
      this.index.having(definition, value) ??
      this.all(type).filter(({ values }) => comparable(definition, values[definition.name]) === wanted)
    );
  }

  /** @throws {SalesforceRefusal} if the record is invalid */
  create(type: SObjectType, sent: Readonly<Record<string, unknown>>, save: SaveOptions = byHand): OrgRecord {
    const defaults = [...type.fields.values()].flatMap(({ name, defaultValue }) =>
      defaultValue === undefined ? [] : [[name, defaultValue] as const],
    );
    const values: Values = { ...Object.fromEntries(defaults), ...readValues(type, sent, 'create') };
    this.lastNumber += 1;
    const record: OrgRecord = { id: recordId(type.keyPrefix, this.lastNumber), type, values: {}, deleted: false };
    checkRecord(this, record, values, undefined, save.allowDuplicates);
    values.OwnerId ??= OWNERS.has(type.name) ? USER_ID : null;
    const at = this.timestamp();
    record.values = { ...values, Id: record.id, IsDeleted: false, CreatedDate: at };
    this.assign(record, save);
    this.touch(record);
    this.records.set(record.id, record);
    this.index.add(record);
    if (type.name === 'Campaign') this.createStatuses(record);
    return record;
  }

  /** @throws {SalesforceRefusal} if the changed record is invalid */
  update(record: OrgRecord, sent: Readonly<Record<string, unknown>>, save: SaveOptions = byHand): void {
    if (record.values.IsConverted === true) {
      throw new SalesforceRefusal('CANNOT_UPDATE_CONVERTED_LEAD', 'cannot reference converted lead');
    }
    const values = { ...record.values, ...readValues(record.type, sent, 'update') };
    checkRecord(this, record, values, record.values, save.allowDuplicates);
    this.change(record, () => {
      record.values = values;
      this.assign(record, save);
      this.touch(record);
    });
  }

  /** Moves a record to the recycle bin, together with the records that depend on it. */
  delete(record: OrgRecord): void {
    this.index.remove(record);
    record.deleted = true;
    record.values.IsDeleted = true;
    for (const [typeName, fieldName] of DEPENDENTS) {
      for (const each of this.having(this.type(typeName), fieldName, record.id)) this.delete(each);
    }
  }

  /** Returns a record in the recycle bin. */
  deletedById(id: string): OrgRecord | undefined {
    const record = this.records.get(normalisedId(id) ?? '');
    return record?.deleted === true ? record : undefined;
  }

  /**
   * Converts a lead as a person does in Salesforce: it becomes a contact of a new account, and cannot be changed again.
   */
  convertLead(lead: OrgRecord): OrgRecord {
    const account = this.create(this.type('Account'), { Name: lead.values.Company });
    const { FirstName = null, LastName = null, Email = null, Phone = null, Title = null } = lead.values;
    const person = { FirstName, LastName, Email, Phone, Title, AccountId: account.id };
    const contact = this.create(this.type('Contact'), person);
    this.change(lead, () => {
      lead.values = {
        ...lead.values,
        IsConverted: true,
        ConvertedContactId: contact.id,
        ConvertedAccountId: account.id,
        Status: 'Closed - Converted',
      };
    });
    return contact;
  }

  /** Merges contacts as a person does: `gone` moves to the recycle bin and refers to the contact that stays. */
  mergeContacts(kept: OrgRecord, gone: OrgRecord): void {
    for (const member of this.having(this.type('CampaignMember'), 'ContactId', gone.id)) {
      this.change(member, () => {
        member.values.ContactId = kept.id;
      });
    }
    this.delete(gone);
    gone.values.MasterRecordId = kept.id;
  }

  /** Makes changes as the integration user over the API. */
  asIntegration<T>(change: () => T): T {
    this.userId = USER_ID;
    try {
      return change();
    } finally {
      this.userId = COLLEAGUE_ID;
    }
  }

  /** Restores a record from the recycle bin, as a user does. */
  undelete(record: OrgRecord): void {
    record.deleted = false;
    record.values.IsDeleted = false;
    this.index.add(record);
  }

  /** Returns the state for `restore`. */
  snapshot(): readonly (readonly [OrgRecord, Values, boolean])[] {
    return [...this.records.values()].map((record) => [record, { ...record.values }, record.deleted] as const);
  }

  restore(snapshot: readonly (readonly [OrgRecord, Values, boolean])[]): void {
    this.records.clear();
    this.index.clear();
    for (const [record, values, deleted] of snapshot) {
      this.records.set(record.id, record);
      record.values = values;
      record.deleted = deleted;
      if (!deleted) this.index.add(record);
    }
  }

  private change(record: OrgRecord, change: () => void): void {
    this.index.removeValues(record);
    change();
    this.index.add(record);
  }

  /** Documented: leads are assigned on creation and on each change, unless a header says otherwise. */
  private assign({ type, values }: OrgRecord, { assign }: SaveOptions): void {
    if (type.name !== 'Lead' || assign === 'none') return;
    const rule = this.assignmentRules.find(({ id, active }) => (assign === 'active' ? active : id === assign));
    if (rule !== undefined) values.OwnerId = rule.ownerId;
    else if (assign !== 'active') throw new SalesforceRefusal('MALFORMED_ID', `no assignment rule ${assign}`);
  }

  /** Sets the values that Salesforce derives from others. */
  private touch(record: OrgRecord): void {
    const { values } = record;
    const at = this.timestamp();
    Object.assign(values, { LastModifiedDate: at, SystemModstamp: at, LastModifiedById: this.userId });
    if (record.type.name === 'Lead' || record.type.name === 'Contact') {
      values.Name = [values.FirstName, values.LastName].filter((part) => typeof part === 'string').join(' ');
    }
    if (record.type.name === 'CampaignMember') this.touchMember(values);
  }

  private touchMember(values: Values): void {
    const statuses = this.having(this.type('CampaignMemberStatus'), 'CampaignId', values.CampaignId);
    values.Status ??= statuses.find((each) => each.values.IsDefault === true)?.values.Label ?? null;
    values.HasResponded = statuses.find((each) => each.values.Label === values.Status)?.values.HasResponded === true;
  }

  /** Documented: a new campaign has the statuses Sent (its default) and Responded. */
  private createStatuses(campaign: OrgRecord): void {
    const type = this.type('CampaignMemberStatus');
    const common = { CampaignId: campaign.id };
    this.create(type, { ...common, Label: 'Sent', IsDefault: true, SortOrder: 3 });
    this.create(type, { ...common, Label: 'Responded', HasResponded: true, SortOrder: 4 });
  }

  private timestamp(): string {
    return new Date(this.now()).toISOString().replace('Z', '+0000');
  }
}

/** Live records in the order of creation, by type and by the values of fields that look-ups use. */
class RecordIndex {
  private readonly byType = new Map<SObjectType, Set<OrgRecord>>();
  private readonly byValue = new Map<FieldDefinition, Map<unknown, Set<OrgRecord>>>();

  all(type: SObjectType): Iterable<OrgRecord> {
    return this.byType.get(type) ?? [];
  }

  /** Returns `undefined` for a field without an index; the caller must then check all records of the type. */
  having(definition: FieldDefinition, value: unknown): OrgRecord[] | undefined {
    return isKept(definition)
      ? [...(this.byValue.get(definition)?.get(comparable(definition, value)) ?? [])]
      : undefined;
  }

  add(record: OrgRecord): void {
    setIn(this.byType, record.type).add(record);
    for (const definition of keptOf(record)) {
      const values = this.byValue.get(definition) ?? new Map<unknown, Set<OrgRecord>>();
      this.byValue.set(definition, values);
      setIn(values, comparable(definition, record.values[definition.name])).add(record);
    }
  }

  remove(record: OrgRecord): void {
    this.byType.get(record.type)?.delete(record);
    this.removeValues(record);
  }

  /**
   * Removes the values of a record before they change. The record keeps its position in its type; call `add`
   * afterwards.
   */
  removeValues(record: OrgRecord): void {
    for (const definition of keptOf(record)) {
      this.byValue.get(definition)?.get(comparable(definition, record.values[definition.name]))?.delete(record);
    }
  }

  clear(): void {
    this.byType.clear();
    this.byValue.clear();
  }
}

/** Returns a value for comparison: texts in lower case. */
function comparable(definition: FieldDefinition, value: unknown): unknown {
  return typeof value === 'string' && definition.type !== 'reference' ? value.toLowerCase() : value;
}

function isKept({ externalId, unique, type }: FieldDefinition): boolean {
  return externalId || unique || type === 'email' || type === 'reference';
}

function keptOf(record: OrgRecord): FieldDefinition[] {
  return [...record.type.fields.values()].filter(
    (definition) => isKept(definition) && (record.values[definition.name] ?? null) !== null,
  );
}

function setIn<K>(sets: Map<K, Set<OrgRecord>>, key: K): Set<OrgRecord> {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set);
  return set;
}
