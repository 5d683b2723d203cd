import type { FieldDefinition } from './field-definition.js';
import type { OrgRecord } from './org.js';
import type { SObjectType } from './sobject-type.js';

/** Live records by type, and by the value of each field that records are looked up by; in the order of their creation. */
export class RecordIndex {
  private readonly byType = new Map<SObjectType, Set<OrgRecord>>();
  private readonly byValue = new Map<FieldDefinition, Map<unknown, Set<OrgRecord>>>();

  all(type: SObjectType): Iterable<OrgRecord> {
    return this.byType.get(type) ?? [];
  }

  /** `undefined` for a field that is not kept: then all of its type are to be looked through. */
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

  /** Before its values change: the record keeps its place among those of its type, and `add` follows. */
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

/** A value as it is compared: texts without case, unless the field says otherwise. */
export function comparable(definition: FieldDefinition, value: unknown): unknown {
  const matters = definition.caseSensitive || definition.type === 'reference';
  return typeof value === 'string' && !matters ? value.toLowerCase() : value;
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
