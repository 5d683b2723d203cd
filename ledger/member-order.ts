/** The order of an object's members, and whether an object made anew in that order would keep it. */
export interface MemberOrder {
  readonly names: readonly string[];
  /** False for names that objects put first by themselves (`7`), or that are not plain members to assign (`__proto__`). */
  readonly isKept: boolean;
}

interface Step {
  readonly next: Map<string, Step>;
  order: MemberOrder | undefined;
}

/** A service that uses data as names would make a shape an item: then all is forgotten, and nothing grows for ever. */
const mostSteps = 50_000;

/**
 * Finds the sorted order of objects by their own order of names. Items of a list repeat few shapes, so it is looked
 * up, name by name, and nothing is allocated: sorting is what canonical JSON costs.
 */
export class MemberOrders {
  #root: Step = { next: new Map(), order: undefined };
  #steps = 0;

  constructor(private readonly omit: ReadonlySet<string> | undefined) {}

  /** By UTF-16 code units, without the names that are left out. */
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
    if (this.#steps >= mostSteps) {
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
