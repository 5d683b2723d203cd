/** A field of an sObject, as `describe` names its parts. */
export interface FieldDefinition {
  readonly name: string;
  readonly label: string;
  readonly type: FieldType;
  /** Characters of text; 0 for what is no text. */
  readonly length: number;
  readonly createable: boolean;
  readonly updateable: boolean;
  /** Without it a record is not created, nor may it be emptied. */
  readonly required: boolean;
  readonly externalId: boolean;
  readonly unique: boolean;
  readonly caseSensitive: boolean;
  readonly picklist: readonly string[];
  readonly restrictedPicklist: boolean;
  /** Default value of a new record. */
  readonly defaultValue: string | boolean | undefined;
  /** Objects whose ids a reference holds. */
  readonly referenceTo: readonly string[];
  /** The other record's name in queries: `Campaign` of `CampaignId`. */
  readonly relationshipName: string | undefined;
}

export type FieldType =
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

/** A field with the parts that matter; the rest as Salesforce has it by default. */
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
    caseSensitive: false,
    picklist: [],
    restrictedPicklist: false,
    defaultValue: type === 'boolean' ? false : undefined,
    referenceTo: [],
    relationshipName: undefined,
    ...parts,
    name,
    type,
  };
}

/** As `describe` answers it. */
export function fieldJson(definition: FieldDefinition): Record<string, unknown> {
  const { required, picklist, defaultValue, ...rest } = definition;
  return {
    ...rest,
    custom: definition.name.endsWith('__c'),
    idLookup: definition.externalId || definition.name === 'Id' || definition.type === 'email',
    nillable: !required && definition.type !== 'boolean' && definition.type !== 'id',
    defaultedOnCreate: defaultValue !== undefined,
    defaultValue: defaultValue ?? null,
    relationshipName: definition.relationshipName ?? null,
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
