import { fieldsOf } from '../sink.js';
import type { Sending } from './batch.js';
import { listOf } from './classify.js';
import { timeOf } from './present-values.js';

/** The type of a property, which decides which texts mean the same. Source: HubSpot, "Properties". */
export interface PropertyKind {
  readonly type: string;
  readonly fieldType: string;
}

/** By property name. */
export type PropertyKinds = ReadonlyMap<string, PropertyKind>;

/** Time for which the definitions of an object's properties are believed. */
const BELIEVED_FOR_MS = 10 * 60_000;

/** Reads and keeps the definitions of properties. */
export class KnownKinds {
  readonly #known = new Map<string, { readonly kinds: PropertyKinds; readonly untilMs: number }>();

  /** Returns the kinds of an object's properties; none if HubSpot does not show them. */
  async of(objectType: string, { client, budget }: Sending): Promise<PropertyKinds> {
    const cached = this.#known.get(objectType);
    if (cached !== undefined && performance.now() < cached.untilMs) return cached.kinds;
    const reply = await client.get(client.path('properties', objectType), budget);
    if (reply.kind !== 'ok') return new Map();
    const kinds: PropertyKinds = new Map(
      listOf(reply.body.results)
        .map(fieldsOf)
        .map(({ name, type, fieldType }) => [String(name), { type: String(type), fieldType: String(fieldType) }]),
    );
    this.#known.set(objectType, { kinds, untilMs: performance.now() + BELIEVED_FOR_MS });
    return kinds;
  }
}

/**
 * Whether a property that HubSpot returns has the value that was sent. HubSpot stores e-mail addresses in lower case,
 * days and instants in one form each, and can write a phone number in its international form.
 */
export function isSameProperty(name: string, present: unknown, sent: unknown, kind: PropertyKind | undefined): boolean {
  const [there, ours] = [plain(present), plain(sent)];
  if (there === ours) return true;
  if (name === 'email') return there.toLowerCase() === ours.toLowerCase();
  switch (kind?.type) {
    case 'number':
      return there !== '' && ours !== '' && Number(there) === Number(ours);
    case 'date':
    case 'datetime':
      return timeOf(there) === timeOf(ours);
    case 'bool':
      return there.toLowerCase() === ours.toLowerCase();
    case 'enumeration':
      return kind.fieldType === 'checkbox' && choicesIn(there) === choicesIn(ours);
    case 'phone_number':
      return isSamePhone(there, ours);
  }
  return kind?.fieldType === 'phonenumber' && isSamePhone(there, ours);
}

/** Returns a value without the differences in white space that HubSpot does not keep. */
function plain(value: unknown): string {
  return String((value ?? '') as string | number | boolean)
    .replaceAll('\r\n', '\n')
    .trim();
}

function choicesIn(text: string): string {
  return text
    .split(';')
    .map((choice) => choice.trim())
    .filter((choice) => choice !== '')
    .toSorted()
    .join(';');
}

/** Whether one number is the other one with a country code. */
function isSamePhone(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.replace(/\D/g, '').replace(/^0+/, '')) as [string, string];
  return a.length >= 6 && b.length >= 6 && (a.endsWith(b) || b.endsWith(a));
}
