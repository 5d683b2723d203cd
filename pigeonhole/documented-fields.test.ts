import { z } from 'zod';
import { serviceLists } from '../base/lists.js';
import { documentedFields, type FieldKind } from './documented-fields.js';
import { itemSchemas } from './wire-types.js';

/** Fields that are never stored, because they open pages without a login. */
const credentials = new Set(['links', 'passcode']);
/** Fields of session copies that some lists lack in the specification, although the check of items admits them. */
const admitted = new Set(['session.type']);

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly anyOf?: readonly JsonSchema[];
}

/** Returns the checked fields of a list with the type of each in JSON. */
function checkedFields(schema: JsonSchema, before = ''): [path: string, type: string][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, value]) => {
    const own = value.anyOf?.find(({ type }) => type !== 'null') ?? value;
    const path = `${before}${name}`;
    if (credentials.has(path)) return [];
    const type = [own.type ?? ''].flat().find((each) => each !== 'null') ?? '';
    return type === 'object' ? checkedFields(own, `${path}.`) : [[path, type]];
  });
}

const jsonTypes: Readonly<Record<FieldKind, string>> = {
  text: 'string',
  moment: 'string',
  day: 'string',
  number: 'integer',
  flag: 'boolean',
};

describe('the documented fields', () => {
  it.each(serviceLists)('include every field of %s that the client checks, with the same type', (list) => {
    const schema = z.toJSONSchema(itemSchemas[list], { io: 'input' }) as JsonSchema;
    const documented = Object.entries(documentedFields[list]).map(([path, kind]) => [path, jsonTypes[kind]]);
    const checked = checkedFields(schema).filter(([path]) => !admitted.has(path) || path in documentedFields[list]);
    expect(documented).toEqual(expect.arrayContaining(checked));
  });
});
