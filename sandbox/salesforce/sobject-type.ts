/** A field of an sObject, with the names that `describe` uses. */
export interface FieldDefinition {
  readonly name: string;
  readonly label: string;
  readonly type: FieldType;
  /** Maximum number of characters; 0 if the field is not text. */
  readonly length: number;
  readonly createable: boolean;
  readonly updateable: boolean;
  /** Whether a new record needs a value, which cannot be cleared later. */
  readonly required: boolean;
  readonly externalId: boolean;
  readonly unique: boolean;
  readonly picklist: readonly string[];
  readonly restrictedPicklist: boolean;
  /** Default value of a new record. */
  readonly defaultValue: string | boolean | undefined;
  /** Objects that a reference can refer to. */
  readonly referenceTo: readonly string[];
}

type FieldType =
  | 'id'
  | 'string'
  | 'textarea'
  | 'email'
  | 'phone'
  | 'url'
  | 'picklist'
  | 'boolean'
  | 'double'
  | 'int'
  | 'date'
  | 'datetime'
  | 'reference';

const TEXT_LENGTHS: Partial<Record<FieldType, number>> = {
  id: 18,
  reference: 18,
  string: 255,
  picklist: 255,
  textarea: 32_000,
  email: 80,
  phone: 40,
  url: 255,
};

/** Builds a field from the given parts and Salesforce's defaults. */
export function field(name: string, parts: Partial<Omit<FieldDefinition, 'name'>> = {}): FieldDefinition {
  const type = parts.type ?? (parts.picklist === undefined ? 'string' : 'picklist');
  return {
    label: name.replace(/__c$/, '').replaceAll('_', ' '),
    length: TEXT_LENGTHS[type] ?? 0,
    createable: true,
    updateable: true,
    required: false,
    externalId: false,
    unique: false,
    picklist: [],
    restrictedPicklist: false,
    defaultValue: type === 'boolean' ? false : undefined,
    referenceTo: [],
    ...parts,
    name,
    type,
  };
}

/** Returns a field as in an answer of `describe`. */
export function fieldJson(definition: FieldDefinition): Record<string, unknown> {
  const { required, picklist, defaultValue, ...rest } = definition;
  return {
    ...rest,
    custom: definition.name.endsWith('__c'),
    idLookup: definition.externalId || definition.name === 'Id' || definition.type === 'email',
    nillable: !required && definition.type !== 'boolean' && definition.type !== 'id',
    defaultedOnCreate: defaultValue !== undefined,
    defaultValue: defaultValue ?? null,
    picklistValues: picklist.map((value) => ({
      value,
      label: value,
      active: true,
      defaultValue: value === defaultValue,
    })),
    byteLength: definition.length * 3,
    filterable: true,
  };
}

/** A type of record. As in Salesforce, names of objects and fields are not case-sensitive. */
export interface SObjectType {
  readonly name: string;
  /** The first three characters of the ids. */
  readonly keyPrefix: string;
  readonly fields: ReadonlyMap<string, FieldDefinition>;
}

const SYSTEM = { createable: false, updateable: false };
const PERSON = [
  field('FirstName', { length: 40, label: 'First Name' }),
  field('LastName', { length: 80, label: 'Last Name', required: true }),
  field('Name', { length: 121, label: 'Full Name', ...SYSTEM }),
  field('Email', { type: 'email' }),
  field('Phone', { type: 'phone' }),
  field('MobilePhone', { type: 'phone', label: 'Mobile Phone' }),
  field('Title', { length: 128 }),
  field('Description', { type: 'textarea' }),
  field('LeadSource', { picklist: ['Web', 'Phone Inquiry', 'Event', 'Other'], label: 'Lead Source' }),
  field('HasOptedOutOfEmail', { type: 'boolean', label: 'Email Opt Out' }),
];

/** Returns the standard objects for campaigns and people, each with the org's custom fields, and the custom objects. */
export function standardTypes(own: Readonly<Record<string, readonly FieldDefinition[]>>): SObjectType[] {
  return [
    sObject('Lead', '00Q', own, [
      ...PERSON,
      field('Company', { required: true }),
      owner(),
      field('Status', {
        picklist: ['Open - Not Contacted', 'Working - Contacted', 'Closed - Converted', 'Closed - Not Converted'],
        defaultValue: 'Open - Not Contacted',
      }),
      field('IsConverted', { type: 'boolean', label: 'Converted', ...SYSTEM }),
      reference('ConvertedContactId', 'Contact', SYSTEM),
      reference('ConvertedAccountId', 'Account', SYSTEM),
    ]),
    sObject('Contact', '003', own, [
      ...PERSON,
      reference('AccountId', 'Account'),
      owner(),
      reference('MasterRecordId', 'Contact', SYSTEM),
    ]),
    sObject('Account', '001', own, [field('Name', { required: true }), owner()]),
    sObject('Campaign', '701', own, [
      field('Name', { length: 80, required: true }),
      owner(),
      field('Type', { picklist: ['Conference', 'Webinar', 'Email', 'Other'] }),
      field('Status', { picklist: ['Planned', 'In Progress', 'Completed', 'Aborted'], defaultValue: 'Planned' }),
      field('StartDate', { type: 'date', label: 'Start Date' }),
      field('EndDate', { type: 'date', label: 'End Date' }),
      field('IsActive', { type: 'boolean', label: 'Active' }),
      field('Description', { type: 'textarea' }),
    ]),
    sObject('CampaignMember', '00v', own, [
      reference('CampaignId', 'Campaign', { updateable: false, required: true }),
      reference('LeadId', 'Lead', { updateable: false }),
      reference('ContactId', 'Contact', { updateable: false }),
      field('Status', { length: 40, picklist: ['Sent', 'Responded'] }),
      field('HasResponded', { type: 'boolean', label: 'Responded', ...SYSTEM }),
    ]),
    sObject('CampaignMemberStatus', '01Y', own, [
      reference('CampaignId', 'Campaign', { updateable: false, required: true }),
      field('Label', { length: 765, required: true }),
      field('HasResponded', { type: 'boolean', label: 'Responded' }),
      field('IsDefault', { type: 'boolean', label: 'Default' }),
      field('SortOrder', { type: 'int', label: 'Sort Order' }),
    ]),
    sObject('Task', '00T', own, [
      field('WhoId', { type: 'reference', referenceTo: ['Contact', 'Lead'] }),
      field('WhatId', { type: 'reference', referenceTo: ['Account', 'Campaign'] }),
      owner(),
      field('Subject'),
      field('Description', { type: 'textarea' }),
      field('ActivityDate', { type: 'date', label: 'Due Date Only' }),
      field('Status', {
        picklist: ['Not Started', 'In Progress', 'Completed', 'Waiting on someone else', 'Deferred'],
        defaultValue: 'Not Started',
        required: true,
      }),
      field('Priority', { picklist: ['High', 'Normal', 'Low'], defaultValue: 'Normal', required: true }),
    ]),
    ...ownObjects(own),
  ];
}

/** Returns the org's custom objects, whose names end in `__c`. */
function ownObjects(own: Readonly<Record<string, readonly FieldDefinition[]>>): SObjectType[] {
  return Object.keys(own)
    .filter((name) => name.endsWith('__c'))
    .map((name, index) =>
      sObject(name, `a${String(index).padStart(2, '0')}`, own, [field('Name', { length: 80 }), owner()]),
    );
}

/** Returns the field for the owner: a user or a queue, neither of which is a record here. */
function owner(): FieldDefinition {
  return field('OwnerId', { type: 'reference', label: 'Owner ID' });
}

export function typeNamed(types: readonly SObjectType[], name: string): SObjectType | undefined {
  return types.find((type) => type.name.toLowerCase() === name.toLowerCase());
}

export function fieldNamed(type: SObjectType, name: string): FieldDefinition | undefined {
  return (
    type.fields.get(name) ?? [...type.fields.values()].find((each) => each.name.toLowerCase() === name.toLowerCase())
  );
}

function sObject(
  name: string,
  keyPrefix: string,
  own: Readonly<Record<string, readonly FieldDefinition[]>>,
  fields: readonly FieldDefinition[],
): SObjectType {
  const all = [
    field('Id', { type: 'id', ...SYSTEM }),
    field('IsDeleted', { type: 'boolean', label: 'Deleted', ...SYSTEM }),
    ...fields,
    field('CreatedDate', { type: 'datetime', label: 'Created Date', ...SYSTEM }),
    field('LastModifiedDate', { type: 'datetime', label: 'Last Modified Date', ...SYSTEM }),
    field('SystemModstamp', { type: 'datetime', ...SYSTEM }),
    field('LastModifiedById', { type: 'reference', label: 'Last Modified By ID', ...SYSTEM }),
    ...(own[name] ?? []),
  ];
  return { name, keyPrefix, fields: new Map(all.map((each) => [each.name, each])) };
}

function reference(name: string, to: string, parts: Partial<Omit<FieldDefinition, 'name'>> = {}): FieldDefinition {
  return field(name, { type: 'reference', referenceTo: [to], ...parts });
}
