const nothing: ReadonlySet<string> = new Set();
const ordersOf = new WeakMap<ReadonlySet<string>, MemberOrders>();

/**
 * Formats a value as JSON in the canonical form of RFC 8785: members sorted by UTF-16 code units, no spaces, numbers
 * and strings as ECMAScript prints them. Equal values give equal text, whatever the order of their members. Lone
 * surrogates, which the RFC does not cover, keep their escaped form.
 *
 * Copies the value with its members in order and lets `JSON.stringify` print the copy. This takes half the time of
 * building the text here (measured: 3.1 µs per attendee instead of 7.0), and the result is one flat string instead of a
 * rope of forty parts.
 * @param omit names of members that are left out, at any depth. Pass the same Set object each time: it is the key under
 *   which sorted orders are remembered
 */
export function canonicalJson(value: unknown, omit: ReadonlySet<string> = nothing): string {
  let orders = ordersOf.get(omit);
  if (orders === undefined) {
    orders = new MemberOrders(omit);
    ordersOf.set(omit, orders);
  }
  const copy = inOrder(value, orders);
  return copy === unordered ? printed(value, orders) : (JSON.stringify(copy) ?? 'null');
}

/**
 * Marks a value that cannot be copied in order, because it contains an object whose member order a copy would not keep.
 */
const unordered = Symbol('unordered');

function inOrder(value: unknown, orders: MemberOrders): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const elements = value.map((element) => inOrder(element, orders));
    return elements.includes(unordered) ? unordered : elements;
  }
  const { names, isKept } = orders.of(value);
  if (!isKept) return unordered;
  const copy: Record<string, unknown> = {};
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]!;
    let member = (value as Record<string, unknown>)[name];
    if (member !== null && typeof member === 'object') {
      member = inOrder(member, orders);
      if (member === unordered) return unordered;
    }
    copy[name] = member;
  }
  return copy;
}

function printed(value: unknown, orders: MemberOrders): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((element) => printed(element, orders)).join(',')}]`;
  const members = orders.of(value).names.flatMap((name) => {
    const member = (value as Record<string, unknown>)[name];
    return member === undefined ? [] : [`${JSON.stringify(name)}:${printed(member, orders)}`];
  });
  return `{${members.join(',')}}`;
}

/** The sorted order of an object's members, and whether an object created in that order keeps it. */
interface MemberOrder {
  readonly names: readonly string[];
  /**
   * False if the object has names that JavaScript objects always put first (`7`), or `__proto__`, which an assignment
   * does not create as a member.
   */
  readonly isKept: boolean;
}

interface Step {
  readonly next: Map<string, Step>;
  order: MemberOrder | undefined;
}

/**
 * Maximum number of `Step` objects in memory. At the limit, all remembered orders are dropped. Without a limit, memory
 * would grow if the service used data as member names, because each item would then have other names.
 */
const maxSteps = 50_000;

/**
 * Remembers the sorted member names for each sequence of names that objects have. Sorting is the expensive part of
 * canonical JSON, and the items of a list have only a few such sequences. The sorted names are looked up name by name
 * in a tree of steps, without allocating anything.
 */
class MemberOrders {
  #root: Step = { next: new Map(), order: undefined };
  #steps = 0;

  constructor(private readonly omit: ReadonlySet<string> | undefined) {}

  /** Returns the names sorted by UTF-16 code units, without the omitted names. */
  of(record: object): MemberOrder {
    const names = Object.keys(record);
    let step = this.#root;
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index]!;
      step = step.next.get(name) ?? this.#add(step, name);
    }
    step.order ??= this.#sort(names);
    return step.order;
  }

  #add(step: Step, name: string): Step {
    if (this.#steps >= maxSteps) {
      this.#root = { next: new Map(), order: undefined };
      this.#steps = 0;
    }
    const added: Step = { next: new Map(), order: undefined };
    step.next.set(name, added);
    this.#steps += 1;
    return added;
  }

  #sort(names: readonly string[]): MemberOrder {
    const kept = names.filter((name) => this.omit?.has(name) !== true).toSorted(byCodeUnits);
    return { names: kept, isKept: !kept.some((name) => /^\d+$/.test(name) || name === '__proto__') };
  }
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
