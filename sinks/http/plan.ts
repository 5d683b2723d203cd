import { createHash } from 'node:crypto';
import {
  type Fields,
  fieldsOf,
  forgetsPerson,
  type OnForget,
  type Operation,
  type Planned,
  type SinkEnvironment,
  type Subject,
} from '../sink.js';
import { emailAddress } from '../mapping/crm-records.js';
import { mappingView } from '../mapping/expression.js';
import { MappingError } from '../mapping/mapping-error.js';
import type { HttpConfig, Purpose, RecordKeys, RequestKeys } from './config.js';
import { cannotForget, type HttpReason } from './reasons.js';
import { needsId, type PlannedRequest, type RequestView, writeRequest } from './write-request.js';

/** The requests of one entry of `records` for one change. */
export interface Step {
  readonly record: string;
  readonly purpose: Exclude<Purpose, 'find'>;
  readonly request: PlannedRequest;
  /** Sent first. If it finds a record, the engine plans the change again with that record. */
  readonly find?: PlannedRequest;
  /** Hash of `request`. */
  readonly sent: string;
  /** The look-up of an audit; only in plans with `again`, if the entry has `find`. */
  readonly read?: ReadRequest;
}

/** A look-up of the record, and the values that it should have. */
export interface ReadRequest {
  readonly request: PlannedRequest;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface HttpOperation extends Operation {
  /** Steps of the same item are carried out in order. */
  readonly itemKey: string;
  /** Time at which pigeonpost found the change, Unix time in ms. */
  readonly foundAtMs: number;
  readonly steps: readonly Step[];
  readonly made: MadeRecords;
  /**
   * Set if an attendee must be forgotten and a record of theirs cannot be removed. After its steps, the operation is
   * rejected with this cause, so that an operator acts.
   */
  readonly notForgotten?: { readonly cause: string; readonly detail: string };
}

/** The receiver's record for one entry of `records`, as the ledger stores it. */
export interface MadeRecord {
  /** The receiver's id of the record; absent if no answer contained one. */
  readonly id?: string | number;
  /** Set if `find` found the record, so that this sink did not create it. */
  readonly found?: true;
  /** Hash of the last request for this record; absent if none was sent. */
  readonly sent?: string;
  /** Set if the receiver did not answer `create`, so the record may exist. The other fields are absent then. */
  readonly mayExist?: boolean;
}

/** The records by the name of their entry. Contains only ids and hashes, because the ledger stores it. */
type MadeRecords = Readonly<Record<string, MadeRecord>>;

function madeRecords(object: Fields | null): MadeRecords {
  const entries = Object.entries(fieldsOf(object)).filter(([, made]) => typeof made === 'object' && made !== null);
  return Object.fromEntries(entries) as Record<string, MadeRecord>;
}

/** Why an entry has no step; `cannot-forget` only if an attendee must be forgotten, which an operator then has to do. */
type NoStep = HttpReason | typeof cannotForget;

/** Advice for an operator about a record that stays at the receiver although its attendee must be forgotten. */
const adviceOn: Readonly<Partial<Record<NoStep, string>>> = {
  [cannotForget]:
    'no request removes the data that was sent about this person: add "delete" or "forget", or remove it by hand',
  'id-not-read': "no response contained the id of this person's record: remove it by hand",
};

/** Plans the requests of changes. Pure. */
export class Planner {
  readonly #config: HttpConfig;
  readonly #name: string;
  readonly #onForget: OnForget;

  constructor(config: HttpConfig, { name, onForget }: Pick<SinkEnvironment, 'name' | 'onForget'>) {
    this.#config = config;
    this.#name = name;
    this.#onForget = onForget;
  }

  /** @throws {MappingError} */
  async plan(subject: Subject): Promise<Planned<HttpOperation>> {
    const { change } = subject;
    const made = this.#config.revisions === 'every' ? {} : madeRecords(subject.object);
    const steps: Step[] = [];
    let reason: HttpReason = 'no-record';
    let left: string | undefined;
    for (const [at, record] of this.#config.records.entries()) {
      if (record.from !== change.list) continue;
      const step = await this.#stepFor(record, `${this.#name}.records[${at}]`, subject, made[record.name]);
      if (typeof step !== 'string') steps.push(step);
      else {
        if (step !== cannotForget) reason = step;
        if (forgetsPerson(subject.removal)) left ??= adviceOn[step];
      }
    }
    const notForgotten = left === undefined ? undefined : { cause: cannotForget, detail: `${this.#name}: ${left}` };
    if (steps.length === 0 && notForgotten !== undefined) return { kind: 'unplannable', ...notForgotten };
    if (steps.length === 0) return { kind: 'nothing', reason };
    const operation = {
      changeId: change.id,
      itemKey: keyOf(change),
      foundAtMs: Date.parse(change.timestamp),
      steps,
      made,
    };
    return { kind: 'send', operation: { ...operation, ...(notForgotten !== undefined && { notForgotten }) } };
  }

  /**
   * Plans an operation for a change that an earlier attempt may have sent, although nothing of it is planned now. It is
   * never sent: `recover` stores that the receiver may have records of the item.
   */
  planLookUp({ change, object }: Subject): Planned<HttpOperation> {
    const creating = this.#config.records.filter(({ from, create }) => from === change.list && create !== undefined);
    if (this.#config.revisions === 'every' || creating.length === 0) return { kind: 'nothing', reason: 'no-record' };
    const made = withoutAnswer(
      madeRecords(object),
      creating.map(({ name }) => name),
    );
    const foundAtMs = Date.parse(change.timestamp);
    return { kind: 'send', operation: { changeId: change.id, itemKey: keyOf(change), foundAtMs, steps: [], made } };
  }

  /** Plans an entry's step for a change. @returns the step, or the reason why there is none */
  async #stepFor(
    record: RecordKeys,
    key: string,
    subject: Subject,
    made: MadeRecord | undefined,
  ): Promise<Step | NoStep> {
    const { change, removal } = subject;
    const around = mappingView(subject);
    const isLog = this.#config.revisions === 'every';
    const isGone = removal !== null || change.data === null;
    // A log has no objects, so only the deliveries show whether it received the item.
    if (isLog && removal === 'deleted' && subject.neverSent === true) return 'never-sent';
    if (isGone) return await this.#removal(record, key, subject, made);
    if (record.when !== undefined && !(await record.when.holds(around, `${key}.when`))) {
      const left = made === undefined ? 'condition' : await this.#removal(record, key, subject, made);
      return typeof left === 'string' ? 'condition' : left;
    }
    const properties: Record<string, unknown> = {};
    for (const [name, expression] of Object.entries(record.properties)) {
      // null instead of absent, because an update has to clear the old value, such as a name that must no longer be
      // shown
      properties[name] = (await expression.evaluate(around, `${key}.properties.${name}`)) ?? null;
    }
    // A preset that finds people by address: one that cannot be an address would make the vendor refuse the call.
    if (record.requires.includes('email')) properties.email = emailAddress(properties.email);
    if (record.requires.some((name) => (properties[name] ?? '') === '')) return 'no-value';
    const isNew = isLog ? change.revision === 1 : made === undefined || made.mayExist === true;
    const purpose = isNew ? 'create' : 'update';
    const keys = record[purpose];
    if (keys === undefined) return isNew ? 'not-created' : 'not-updated';
    const view = { ...around, properties, record: { id: made?.id } };
    const request = await this.#write(keys, view, `${key}.${purpose}`);
    const find = isNew && record.find ? await this.#write(record.find, view, `${key}.find`) : undefined;
    const sent = hashOf(request);
    if (made?.sent === sent && change.replay === undefined && subject.again !== true) return 'unchanged';
    const read = await this.#read(record, view, subject, key);
    return { record: record.name, purpose, request, sent, ...(find !== undefined && { find }), ...read };
  }

  /** Plans the step that removes an entry's record because the item was deleted or its attendee must be forgotten. */
  async #removal(
    record: RecordKeys,
    key: string,
    subject: Subject,
    made: MadeRecord | undefined,
  ): Promise<Step | NoStep> {
    const forgets = forgetsPerson(subject.removal);
    const isOurs = made?.found !== true;
    if (forgets && this.#onForget === 'manual') return 'forget-by-hand';
    const deletes = forgets ? this.#onForget === 'delete' || record.forget === undefined : true;
    const mayDelete = isOurs || (forgets && this.#onForget === 'delete');
    const purpose: Exclude<Purpose, 'find'> = deletes ? 'delete' : 'forget';
    const keys = record[purpose];
    if (keys === undefined) return forgets && made !== undefined ? cannotForget : 'no-delete-request';
    if (deletes && !mayDelete) return forgets ? cannotForget : 'not-ours';
    // If no id is known, there is no record, or the answer to its creation was lost. A request that identifies the
    // record by values of the item can still be sent. A request that needs the id cannot be sent: without the id, it
    // would go to another address.
    if (made?.id === undefined && needsId(keys)) return made === undefined ? 'nothing-made' : 'id-not-read';
    const view = { ...mappingView(subject), properties: {}, record: { id: made?.id } };
    const request = await this.#write(keys, view, `${key}.${purpose}`);
    const read = await this.#read(record, view, subject, key);
    return { record: record.name, purpose, request, sent: hashOf(request), ...read };
  }

  /** Plans the look-up of an audit. A removed item may have no value to look up by; it is not looked up then. */
  async #read(record: RecordKeys, view: RequestView, subject: Subject, key: string): Promise<{ read?: ReadRequest }> {
    if (record.find === undefined || subject.again !== true) return {};
    try {
      const request = await this.#write(record.find, view, `${key}.find`);
      return { read: { request, properties: view.properties } };
    } catch (error) {
      if (error instanceof MappingError && subject.change.data === null) return {};
      throw error;
    }
  }

  async #write(keys: RequestKeys, view: RequestView, key: string): Promise<PlannedRequest> {
    return await writeRequest(keys, this.#config.headers, view, key);
  }
}

function keyOf({ workspace, pigeonholeId, list, key }: Subject['change']): string {
  return JSON.stringify([workspace, pigeonholeId, list, key]);
}

/**
 * Returns the records with the mark at these entries that the receiver may have one: a creation got no answer. Entries
 * whose record is known keep it.
 */
export function withoutAnswer(made: MadeRecords, entries: readonly string[]): MadeRecords {
  const open = entries.filter((name) => made[name] === undefined);
  return { ...made, ...Object.fromEntries(open.map((name) => [name, { mayExist: true }])) };
}

/** Returns a hash of a request, which shows whether it differs from the last one without storing its content. */
function hashOf(request: PlannedRequest): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('hex').slice(0, 24);
}
