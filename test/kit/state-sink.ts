import type { OpenSink } from '../../cycles/collaborators.js';
import type { Fields, Operation, Outcome, Planned, Sink, SinkTraits, Subject } from '../../sinks/sink.js';

export interface StateOperation extends Operation {
  readonly name: string;
  readonly revision: number;
  readonly data: Fields | null;
  readonly person: string | null;
  readonly object: Fields | null;
}

/**
 * A destination that holds one record per item, as a CRM does, and shows what the delivery engine sends. A test can set
 * its answer per item; by default it accepts everything and remembers a remote id.
 */
export class StateSink implements Sink<StateOperation> {
  readonly traits: SinkTraits;
  /** By `list:key`. */
  readonly records = new Map<string, StateOperation>();
  readonly sent: StateOperation[] = [];
  readonly lookedUp: StateOperation[] = [];
  /** Returns the outcome of an operation instead of accepting it; undefined accepts it. */
  answer: (operation: StateOperation) => Outcome | undefined = () => undefined;
  lookUp: (operation: StateOperation) => Outcome = () => ({ kind: 'unsent' });
  planned: (subject: Subject) => Planned<StateOperation> | undefined = () => undefined;

  readonly preview = ({ name, data }: StateOperation) => [{ method: 'PUT', address: name, body: data }];

  constructor(traits: Partial<SinkTraits> = {}) {
    this.traits = {
      order: 'item',
      needsContext: true,
      revisions: 'latest',
      repeats: 'lookUp',
      batchSize: 10,
      ...traits,
    };
  }

  check(): Promise<[]> {
    return Promise.resolve([]);
  }

  plan(subjects: readonly Subject[]): Promise<Planned<StateOperation>[]> {
    return Promise.resolve(
      subjects.map((subject) => {
        const { change, attendee, object } = subject;
        const operation: StateOperation = {
          changeId: change.id,
          name: `${change.list}:${change.key}`,
          revision: change.revision,
          data: change.data,
          person: typeof attendee?.['Name'] === 'string' ? attendee['Name'] : null,
          object,
        };
        return this.planned(subject) ?? { kind: 'send', operation };
      }),
    );
  }

  send(operations: readonly StateOperation[]): Promise<{ outcomes: Outcome[] }> {
    return Promise.resolve({
      outcomes: operations.map((operation) => {
        this.sent.push(operation);
        return this.answer(operation) ?? this.#take(operation);
      }),
    });
  }

  recover(operations: readonly StateOperation[]): Promise<{ outcomes: Outcome[] }> {
    this.lookedUp.push(...operations);
    return Promise.resolve({ outcomes: operations.map((operation) => this.lookUp(operation)) });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Replaces the configured sink of a scene. */
  inPlaceOf(name: string): (made: ReadonlyMap<string, OpenSink>) => ReadonlyMap<string, OpenSink> {
    return (made) => new Map([...made].map(([each, open]) => [each, each === name ? { ...open, sink: this } : open]));
  }

  #take(operation: StateOperation): Outcome {
    this.records.set(operation.name, operation);
    return { kind: 'delivered', object: { id: `remote-${operation.name}` } };
  }
}
