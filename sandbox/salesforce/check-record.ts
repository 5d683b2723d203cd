import type { Org, OrgRecord } from './org.js';
import { type FieldDefinition, typeNamed } from './sobject-type.js';
import type { Values } from './read-values.js';
import { SalesforceRefusal } from './call.js';

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
