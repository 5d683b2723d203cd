import { SalesforceRefusal } from './call.js';
import type { Org, OrgRecord } from './org.js';
import type { Values } from './read-values.js';
import { type FieldDefinition, typeNamed } from './sobject-type.js';

/** A fault that refuses records, valid or not, for example as if another transaction had locked the row. */
interface RecordFault {
  readonly object: string;
  readonly code: string;
  readonly message: string;
  /** Number of records of the object that pass before the fault takes effect; 0 by default. */
  readonly skip?: number;
  /** Number of records refused after those; 1 by default. */
  readonly times?: number;
}

/** Builds a fault that refuses `times` records of an object with `UNABLE_TO_LOCK_ROW`. */
export function lockedRow(object: string, times = 1, skip = 0): RecordFault {
  return {
    object,
    code: 'UNABLE_TO_LOCK_ROW',
    message: 'unable to obtain exclusive access to this record or 1 records',
    times,
    skip,
  };
}

/** Faults of single records. Deterministic: counts records as they are written. */
export class RecordFaults {
  private planned: { readonly fault: RecordFault; seen: number }[] = [];

  add(...faults: readonly RecordFault[]): void {
    this.planned.push(...faults.map((fault) => ({ fault, seen: 0 })));
  }

  clear(): void {
    this.planned = [];
  }

  /** Applies the faults to one record of the object. @throws {SalesforceRefusal} if one takes effect */
  apply(object: string): void {
    for (const planned of this.planned) {
      const { fault } = planned;
      const last = (fault.skip ?? 0) + (fault.times ?? 1);
      if (fault.object !== object || planned.seen >= last) continue;
      planned.seen += 1;
      if (planned.seen > (fault.skip ?? 0)) throw new SalesforceRefusal(fault.code, fault.message);
    }
  }
}

/** A validation rule of the org: a record for which `fails` is true is not saved. */
export interface ValidationRule {
  readonly object: string;
  readonly fails: (values: Readonly<Values>) => boolean;
  readonly message: string;
  /** The field at which the page shows the message; by default, the top of the page. */
  readonly field?: string;
}

/** A duplicate rule: refuses a new record that has the same values as another one in all of these fields. */
export interface DuplicateRule {
  readonly object: string;
  readonly fields: readonly string[];
  /** The objects to compare with. They must have the same fields. */
  readonly against: readonly string[];
  /** The header `Sforce-Duplicate-Rule-Header: allowSave=true` overrides an alert, but not a block. */
  readonly action: 'alert' | 'block';
}

/** A lead assignment rule, which changes the owner of a lead. At most one rule of an org is active. */
export interface AssignmentRule {
  readonly id: string;
  readonly active: boolean;
  readonly ownerId: string;
}

/** Options for saving, from the headers of a request. */
export interface SaveOptions {
  /** Whether to ignore an alert of a duplicate rule. */
  readonly allowDuplicates: boolean;
  /** `active`: assign by the active rule; `none`: do not assign; otherwise the id of the rule to apply. */
  readonly assign: string;
}

/** Options of a user in Salesforce's pages who dismisses alerts and selects no assignment. */
export const byHand: SaveOptions = { allowDuplicates: true, assign: 'none' };

/**
 * The standard duplicate rules, which are active in a new org. They compare leads and contacts with both objects, show
 * an alert on creation, and ignore edits. Salesforce's matching rules also find similar values; these find only equal
 * ones.
 */
export const standardDuplicateRules: readonly DuplicateRule[] = (['Lead', 'Contact'] as const).flatMap((object) =>
  [['Email'], ['FirstName', 'LastName', 'Title']].map(
    (fields) => ({ object, fields, against: ['Lead', 'Contact'], action: 'alert' }) as const,
  ),
);

/** An active rule that gives all leads to a queue. */
export const leadsToQueue: AssignmentRule = {
  id: '01Q8d0000000001EAA',
  active: true,
  ownerId: '00G8d0000000001EAA',
};

/**
 * Checks whether a record may be saved with these values. Checks in Salesforce's order: required fields, the rule of
 * each field, uniqueness, campaign members, duplicate rules, validation rules.
 * @throws {SalesforceRefusal} for the first check that fails
 */
export function checkRecord(
  org: Org,
  record: OrgRecord,
  values: Readonly<Values>,
  before: Readonly<Values> | undefined,
  allowDuplicates: boolean,
): void {
  const { type } = record;
  const missing = [...type.fields.values()].filter(({ name, required }) => required && (values[name] ?? null) === null);
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name);
    throw new SalesforceRefusal('REQUIRED_FIELD_MISSING', `Required fields are missing: [${names.join(', ')}]`, names);
  }
  for (const [name, value] of Object.entries(values)) {
    const definition = type.fields.get(name)!;
    if (typeof value === 'string' && value !== before?.[name]) checkText(org, definition, value);
  }
  checkUnique(org, record, values);
  if (type.name === 'CampaignMember') checkMember(org, record, values);
  if (type.name === 'CampaignMemberStatus') checkStatus(org, record, values);
  if (type.name === 'Task') checkTask(org, values);
  if (before === undefined) checkDuplicates(org, type.name, values, allowDuplicates);
  for (const rule of org.validationRules) {
    if (rule.object !== type.name || !rule.fails(values)) continue;
    throw new SalesforceRefusal(
      'FIELD_CUSTOM_VALIDATION_EXCEPTION',
      rule.message,
      rule.field === undefined ? [] : [rule.field],
    );
  }
}

function checkText(org: Org, definition: FieldDefinition, value: string): void {
  const { name, label, type, length, picklist, restrictedPicklist, referenceTo } = definition;
  if (length > 0 && value.length > length) {
    throw new SalesforceRefusal('STRING_TOO_LONG', `${label}: data value too large: ${value} (max length=${length})`, [
      name,
    ]);
  }
  if (type === 'email' && !/^[^\s@,;:<>()[\]"\\]+@([a-z0-9-]+\.)+[a-z0-9-]+$/i.test(value)) {
    throw new SalesforceRefusal('INVALID_EMAIL_ADDRESS', `${label}: invalid email address: ${value}`, [name]);
  }
  if (restrictedPicklist && !picklist.includes(value)) {
    throw new SalesforceRefusal(
      'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST',
      `${label}: bad value for restricted picklist field: ${value}`,
      [name],
    );
  }
  if (
    type === 'reference' &&
    definition.createable &&
    referenceTo.length > 0 &&
    !referenceTo.includes(org.byId(value)?.type.name ?? '')
  ) {
    throw new SalesforceRefusal('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id', [name]);
  }
}

function checkUnique(org: Org, record: OrgRecord, values: Readonly<Values>): void {
  for (const { name, unique } of record.type.fields.values()) {
    const value = values[name] ?? null;
    if (!unique || value === null) continue;
    const other = org.having(record.type, name, value).find((each) => each.id !== record.id);
    if (other === undefined) continue;
    throw new SalesforceRefusal(
      'DUPLICATE_VALUE',
      `duplicate value found: ${name} duplicates value on record with id: ${other.id}`,
      [],
    );
  }
}

/** Checks that a member is one lead or one contact, once per campaign, with a status of the campaign. */
function checkMember(org: Org, record: OrgRecord, values: Readonly<Values>): void {
  const { LeadId, ContactId, CampaignId, Status } = values;
  if ((LeadId ?? null) === null && (ContactId ?? null) === null) {
    throw new SalesforceRefusal('REQUIRED_FIELD_MISSING', 'Required fields are missing: [LeadId or ContactId]', []);
  }
  if (typeof LeadId === 'string' && typeof ContactId === 'string') {
    throw new SalesforceRefusal('FIELD_INTEGRITY_EXCEPTION', 'A campaign member is a lead or a contact', ['ContactId']);
  }
  const lead = typeof LeadId === 'string' ? org.byId(LeadId) : undefined;
  if (lead?.values.IsConverted === true && !('Id' in values)) {
    throw new SalesforceRefusal('CANNOT_UPDATE_CONVERTED_LEAD', 'cannot reference converted lead', ['LeadId']);
  }
  const sameRecords =
    typeof LeadId === 'string'
      ? org.having(record.type, 'LeadId', LeadId)
      : org.having(record.type, 'ContactId', ContactId);
  const already = sameRecords.some(({ id, values: other }) => id !== record.id && other.CampaignId === CampaignId);
  if (already) throw new SalesforceRefusal('DUPLICATE_VALUE', 'Already a campaign member.', []);
  const labels = labelsOf(org, CampaignId);
  if (typeof Status === 'string' && !labels.includes(Status)) {
    throw new SalesforceRefusal(
      'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST',
      `Status: bad value for restricted picklist field: ${Status}`,
      ['Status'],
    );
  }
}

/** Checks that the label and the sort order of a status are unique in its campaign. */
function checkStatus(org: Org, record: OrgRecord, values: Readonly<Values>): void {
  const others = org.having(record.type, 'CampaignId', values.CampaignId).filter(({ id }) => id !== record.id);
  for (const name of ['Label', 'SortOrder']) {
    const value = values[name] ?? null;
    if (value === null || others.every((each) => each.values[name] !== value)) continue;
    throw new SalesforceRefusal('DUPLICATE_VALUE', `A status with this ${name} already exists.`, [name]);
  }
}

/** Checks that a task of a lead is not related to another record. */
function checkTask(org: Org, { WhoId, WhatId }: Readonly<Values>): void {
  const isLead = typeof WhoId === 'string' && org.byId(WhoId)?.type.name === 'Lead';
  if (isLead && typeof WhatId === 'string') {
    throw new SalesforceRefusal('FIELD_INTEGRITY_EXCEPTION', 'a task of a lead cannot be related to another record', [
      'WhatId',
    ]);
  }
}

function labelsOf(org: Org, campaignId: unknown): unknown[] {
  return org.having(org.type('CampaignMemberStatus'), 'CampaignId', campaignId).map((each) => each.values.Label);
}

function checkDuplicates(org: Org, object: string, values: Readonly<Values>, allowDuplicates: boolean): void {
  for (const rule of org.duplicateRules) {
    const [first, ...others] = rule.fields;
    const hasAll = rule.fields.every((field) => (values[field] ?? null) !== null);
    if (rule.object !== object || !hasAll || (rule.action === 'alert' && allowDuplicates)) continue;
    const found = rule.against.some((name) =>
      org
        .having(typeNamed(org.types, name)!, first!, values[first!])
        .some(
          (other) =>
            other.values.IsConverted !== true &&
            others.every((field) => String(other.values[field]).toLowerCase() === String(values[field]).toLowerCase()),
        ),
    );
    if (found) throw new SalesforceRefusal('DUPLICATES_DETECTED', 'Use one of these records?', []);
  }
}
