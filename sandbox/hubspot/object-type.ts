/** A property of an object, with the names that `GET /crm/v3/properties/{objectType}` uses. */
export interface PropertyDefinition {
  readonly name: string;
  readonly label: string;
  readonly type: 'string' | 'number' | 'date' | 'datetime' | 'enumeration' | 'bool';
  readonly fieldType: 'text' | 'textarea' | 'html' | 'number' | 'date' | 'select' | 'checkbox' | 'booleancheckbox';
  readonly options: readonly PropertyOption[];
  readonly hasUniqueValue: boolean;
  readonly readOnlyValue: boolean;
  readonly hubspotDefined: boolean;
}

interface PropertyOption {
  readonly value: string;
  readonly label: string;
}

const FIELD_TYPES = {
  string: 'text',
  number: 'number',
  date: 'date',
  datetime: 'date',
  enumeration: 'select',
  bool: 'booleancheckbox',
} as const;

/** Builds a property from the given parts and HubSpot's defaults. */
export function property(
  name: string,
  parts: Partial<Omit<PropertyDefinition, 'options'>> & { readonly options?: readonly string[] } = {},
): PropertyDefinition {
  const type = parts.type ?? (parts.options === undefined ? 'string' : 'enumeration');
  return {
    label: name,
    fieldType: FIELD_TYPES[type],
    hasUniqueValue: false,
    readOnlyValue: false,
    hubspotDefined: false,
    ...parts,
    name,
    type,
    options: (parts.options ?? (type === 'bool' ? ['true', 'false'] : [])).map((value) => ({ value, label: value })),
  };
}

/** Returns a definition as in an answer of the properties API. */
export function propertyJson(definition: PropertyDefinition): Record<string, unknown> {
  const { readOnlyValue, options, ...rest } = definition;
  return {
    ...rest,
    description: '',
    groupName: 'information',
    options: options.map((option, displayOrder) => ({ ...option, displayOrder, hidden: false, description: '' })),
    displayOrder: -1,
    calculated: false,
    externalOptions: false,
    hidden: false,
    formField: false,
    archived: false,
    modificationMetadata: {
      archivable: !definition.hubspotDefined,
      readOnlyDefinition: definition.hubspotDefined,
      readOnlyOptions: definition.hubspotDefined,
      readOnlyValue,
    },
  };
}

/** A type of record in the portal. Paths may use any of its names. */
export interface ObjectType {
  /** Name in paths: `contacts`, `notes`, or the short name of a custom object. */
  readonly name: string;
  /** Name in HubSpot's messages: `CONTACT`. */
  readonly singular: string;
  readonly objectTypeId: string;
  /** `p<portal>_<name>` for a custom object, otherwise the name. */
  readonly fullyQualifiedName: string;
  readonly custom: boolean;
  /** Required for a new record, in every version. */
  readonly required: readonly string[];
  /** Rules of the account's administrator, which versions from 2026-09 on enforce. */
  readonly rules: AccountRules;
  readonly properties: Map<string, PropertyDefinition>;
  /** One of these scopes is enough to read or to write records. */
  readonly scopes: {
    readonly read: readonly string[];
    readonly write: readonly string[];
    readonly schema: readonly string[];
  };
  /** HubSpot's association type to a contact. A custom object has a type of its portal. */
  readonly contactAssociationTypeId: number | undefined;
}

/** Documented: "Breaking Change: CRM API Write Validation Enforcement", HubSpot's developer changelog, 11 August 2026. */
interface AccountRules {
  /** Required by the form "Create Record". (A): the object's schema lists them in `requiredProperties`. */
  readonly required: readonly string[];
  /** Rules that no API returns. */
  readonly conditional: readonly ConditionalRule[];
}

export interface ConditionalRule {
  readonly whenProperty: string;
  readonly hasValue: string;
  readonly requires: string;
}

const NO_RULES: AccountRules = { required: [], conditional: [] };

const HUBSPOT = { hubspotDefined: true };
const READ_ONLY = { hubspotDefined: true, readOnlyValue: true };

/** Lifecycle stages in order. The API moves a contact only forwards. */
export const LIFECYCLE_STAGES = [
  'subscriber',
  'lead',
  'marketingqualifiedlead',
  'salesqualifiedlead',
  'opportunity',
  'customer',
  'evangelist',
  'other',
];

/** Documented: "Legal basis for processing contact's data". */
const LEGAL_BASES = [
  'Legitimate interest – prospect/lead',
  'Legitimate interest – existing customer',
  'Legitimate interest - other',
  'Performance of a contract',
  'Freely given consent from contact',
  'Not applicable',
];

/** Returns the type of contacts with the relevant standard properties and the portal's custom properties. */
export function contactType(own: readonly PropertyDefinition[], rules: AccountRules = NO_RULES): ObjectType {
  return {
    name: 'contacts',
    singular: 'CONTACT',
    objectTypeId: '0-1',
    fullyQualifiedName: 'contacts',
    custom: false,
    required: [],
    rules,
    properties: byName([
      // Unique but not flagged so: its uniqueness is a rule of contacts and not part of the definition.
      property('email', HUBSPOT),
      property('hs_additional_emails', READ_ONLY),
      ...['firstname', 'lastname', 'phone', 'company', 'jobtitle', 'website', 'city', 'country'].map((name) =>
        property(name, HUBSPOT),
      ),
      property('lifecyclestage', { ...HUBSPOT, options: LIFECYCLE_STAGES }),
      property('hs_legal_basis', { ...HUBSPOT, fieldType: 'checkbox', options: LEGAL_BASES }),
      property('hs_marketable_status', { ...READ_ONLY, type: 'bool' }),
      property('hs_lead_status', { ...HUBSPOT, options: ['NEW', 'OPEN', 'IN_PROGRESS', 'CONNECTED', 'UNQUALIFIED'] }),
      ...ownedByHubSpot('lastmodifieddate'),
      ...own,
    ]),
    scopes: scopesOf('contacts'),
    contactAssociationTypeId: undefined,
  };
}

export function noteType(): ObjectType {
  return {
    name: 'notes',
    singular: 'NOTE',
    objectTypeId: '0-46',
    fullyQualifiedName: 'notes',
    custom: false,
    required: ['hs_timestamp'],
    rules: NO_RULES,
    properties: byName([
      property('hs_timestamp', { ...HUBSPOT, type: 'datetime' }),
      property('hs_note_body', { ...HUBSPOT, fieldType: 'html' }),
      property('hubspot_owner_id', HUBSPOT),
      property('hs_attachment_ids', HUBSPOT),
      ...ownedByHubSpot('hs_lastmodifieddate'),
    ]),
    scopes: scopesOf('contacts'),
    contactAssociationTypeId: 202,
  };
}

/** A custom object as its owner defines it: names in lower case, properties, and required properties. */
export interface CustomObject {
  readonly name: string;
  readonly properties: readonly PropertyDefinition[];
  readonly required?: readonly string[];
}

export function customType(portalId: number, custom: CustomObject, index: number): ObjectType {
  return {
    name: custom.name,
    singular: custom.name.toUpperCase(),
    objectTypeId: `2-${4_000_001 + index}`,
    fullyQualifiedName: `p${portalId}_${custom.name}`,
    custom: true,
    required: custom.required ?? [],
    rules: NO_RULES,
    properties: byName([...custom.properties, ...ownedByHubSpot('hs_lastmodifieddate')]),
    scopes: scopesOf('custom'),
    contactAssociationTypeId: 21 + 2 * index,
  };
}

/** Returns the object type of a path, by name, fully qualified name or objectTypeId. */
export function typeNamed(types: readonly ObjectType[], name: string): ObjectType | undefined {
  const singulars: Readonly<Record<string, string>> = { contact: 'contacts', note: 'notes' };
  const wanted = singulars[name] ?? name;
  return types.find(
    (type) => type.name === wanted || type.fullyQualifiedName === wanted || type.objectTypeId === wanted,
  );
}

function ownedByHubSpot(lastModified: string): PropertyDefinition[] {
  return [
    property('hs_object_id', { ...READ_ONLY, type: 'number', hasUniqueValue: true }),
    property('createdate', { ...READ_ONLY, type: 'datetime' }),
    property(lastModified, { ...READ_ONLY, type: 'datetime' }),
  ];
}

function scopesOf(name: 'contacts' | 'custom'): ObjectType['scopes'] {
  return {
    read: [`crm.objects.${name}.read`],
    write: [`crm.objects.${name}.write`],
    schema: [`crm.schemas.${name}.read`, `crm.objects.${name}.read`],
  };
}

function byName(definitions: readonly PropertyDefinition[]): Map<string, PropertyDefinition> {
  return new Map(definitions.map((definition) => [definition.name, definition]));
}
