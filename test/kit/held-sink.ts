import type { ExtraHeld, HeldResult, Lane, Outcome, ReadBack, SinkTraits } from '../../sinks/sink.js';
import { StateSink, type StateOperation } from './state-sink.js';

/**
 * A destination that can be read back, as strict as a vendor: it refuses reads while it is being written, reads of more than
 * one batch, and reads of what was never sent to it. A test changes `records` and `copies` behind pigeonpost's back.
 */
export class HeldSink extends StateSink {
  /** Names of the items that were read, in order. */
  readonly read: string[] = [];
  /** Ids of further objects with our mark, by `list:key`. */
  readonly copies = new Map<string, string[]>();
  readonly removed: string[] = [];
  /** Returns the result of an item instead of reading it. */
  answerRead: (name: string) => HeldResult | undefined = () => undefined;
  /** Called at the beginning of each read. */
  onRead: (signal: AbortSignal) => Promise<void> = () => Promise.resolve();
  readonly #writing = new Set<number>();
  readonly #reading = new Set<number>();

  constructor(traits: Partial<SinkTraits> = {}) {
    super({ repeats: 'harmless', needsContext: false, ...traits });
  }

  override async send(operations: readonly StateOperation[], lane?: Lane): Promise<{ outcomes: Outcome[] }> {
    const place = lane?.pigeonholeId ?? 0;
    if (this.#reading.has(place)) throw new Error('a lane was written while an audit read it');
    this.#writing.add(place);
    await new Promise((resolve) => setImmediate(resolve));
    const sent = await super.send(operations);
    for (const operation of operations) {
      if (operation.data === null) this.records.delete(operation.name);
    }
    this.#writing.delete(place);
    return sent;
  }

  async readBack(
    wanted: readonly ReadBack<StateOperation>[],
    lane: Lane,
    signal: AbortSignal,
  ): Promise<readonly HeldResult[]> {
    if (this.#writing.has(lane.pigeonholeId)) throw new Error('a lane was read while it was written');
    if (wanted.length > this.traits.batchSize) throw new Error('more than one batch was read');
    this.#reading.add(lane.pigeonholeId);
    try {
      await this.onRead(signal);
      await new Promise((resolve) => setImmediate(resolve));
      return wanted.map(({ change, operation }): HeldResult => {
        const name = `${change.list}:${change.key}`;
        if (signal.aborted) return { kind: 'retry', detail: 'stopped' };
        this.read.push(name);
        const held = this.records.get(operation?.name ?? name);
        const copies = this.copies.get(name) ?? [];
        return (
          this.answerRead(name) ?? (held === undefined ? { kind: 'missing', copies } : { kind: 'held', held, copies })
        );
      });
    } finally {
      this.#reading.delete(lane.pigeonholeId);
    }
  }

  compareHeld(operation: StateOperation, held: unknown): readonly string[] {
    const { data } = held as StateOperation;
    if (operation.data === null) return ['record'];
    const names = new Set([...Object.keys(operation.data), ...Object.keys(data ?? {})]);
    return [...names].filter((name) => JSON.stringify(operation.data?.[name]) !== JSON.stringify(data?.[name]));
  }

  removeHeld(extras: readonly ExtraHeld<StateOperation>[]): Promise<readonly Outcome[]> {
    return Promise.resolve(
      extras.map(({ change, copies }): Outcome => {
        const name = `${change.list}:${change.key}`;
        this.removed.push(...copies);
        this.copies.delete(name);
        return { kind: 'delivered' };
      }),
    );
  }

  /** Changes a record as a colleague at the vendor does. */
  edit(name: string, data: Record<string, unknown>): void {
    const record = this.records.get(name)!;
    this.records.set(name, { ...record, data: { ...record.data, ...data } });
  }
}
