/** A property of an object, as `GET /crm/v3/properties/{objectType}` names its parts. */
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

export interface PropertyOption {
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

/** A property with the parts that a test is about; the rest as HubSpot would fill it in. */
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

/** A definition as the properties API answers it. */
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
