import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Secret } from '../../config/secret.js';
import { loadHubSpotConfig } from './load-config.test-kit.js';
import { createHubSpotSink, type HubSpotTuning } from './hubspot.js';
import type { HubSpotOperation } from './operation.js';
import type { Fields, Lane, Outcome, Sink, SinkEnvironment, Subject } from '../sink.js';

export interface FakeRecord {
  readonly id: string;
  readonly properties: Record<string, string>;
  /** Time of the last change of each property, Unix time in ms. */
  readonly changedAtMs: Record<string, number>;
}

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly body: { readonly inputs?: readonly Record<string, unknown>[] } & Record<string, unknown>;
}

export interface Scripted {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** The call takes effect all the same. */
  readonly afterEffect?: boolean;
  /** The connection is cut instead. */
  readonly cut?: boolean;
}

/** So much of HubSpot that the paths of the sink can be walked; what it refuses, and when, a test says. */
export class FakeAccount {
  readonly requests: FakeRequest[] = [];
  readonly records = new Map<string, Map<string, FakeRecord>>();
  readonly attendances: { readonly event: string; readonly state: string; readonly who: string }[] = [];
  /** Marketing events by HubSpot's id. */
  readonly events = new Map<string, Record<string, unknown>>();
  readonly lists = new Map<string, Set<string>>();
  /** Required properties of new records; undefined if the key may not read them. */
  required: readonly string[] | undefined = [];
  readonly associations: string[] = [];
  /** Asked before each request; an answer replaces the account's own. */
  script: (request: FakeRequest) => Scripted | undefined = () => undefined;
  properties: Record<string, unknown>[] = [];
  scopes: readonly string[] = ['crm.objects.contacts.read', 'crm.objects.contacts.write', 'crm.schemas.contacts.read'];
  nowMs = Date.parse('2026-11-21T09:30:00Z');
  #nextId = 100;
  readonly #server = createServer((request, response) => {
    this.#handle(request).then(
      ({ status, body, headers, cut }) => {
        if (cut === true) return void response.destroy();
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(status === 204 ? undefined : JSON.stringify(body ?? {}));
      },
      () => response.destroy(),
    );
  });

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  of(objectType: string): Map<string, FakeRecord> {
    const found = this.records.get(objectType) ?? new Map<string, FakeRecord>();
    this.records.set(objectType, found);
    return found;
  }

  put(objectType: string, properties: Record<string, string>, changedAtMs = this.nowMs): FakeRecord {
    const id = String((this.#nextId += 1));
    const changed = Object.fromEntries(Object.keys(properties).map((name) => [name, changedAtMs]));
    const record = { id, properties: { ...properties }, changedAtMs: changed };
    this.of(objectType).set(id, record);
    return record;
  }

  /** Requests that had to do with this part of a path. */
  calls(part: string): FakeRequest[] {
    return this.requests.filter(({ path }) => path.includes(part));
  }

  async #handle(message: IncomingMessage): Promise<Scripted> {
    const body = message.method === 'GET' ? {} : ((await json(message)) as FakeRequest['body']);
    const request = { method: message.method!, path: message.url!, body };
    this.requests.push(request);
    const scripted = this.script(request);
    if (scripted !== undefined && scripted.afterEffect !== true) return scripted;
    const answer = this.#answer(request);
    return scripted ?? answer;
  }

  #answer({ method, path, body }: FakeRequest): Scripted {
    const inputs = body.inputs ?? [];
    if (path.includes('/account-info/')) return { status: 200, body: { portalId: 7, timeZone: 'US/Eastern' } };
    if (path.includes('access-token-info')) return { status: 200, body: { scopes: this.scopes } };
    if (path.includes('/properties/')) return { status: 200, body: { results: this.properties } };
    if (path.includes('/schemas/')) {
      return this.required === undefined
        ? { status: 403 }
        : { status: 200, body: { requiredProperties: this.required } };
    }
    if (path.includes('/marketing-events/')) return this.#marketing(method, path, body, inputs);
    if (path.includes('/lists/')) return this.#list(path, body);
    if (path.includes('/contacts/notes/batch/read')) return this.#notesOf(inputs);
    const association = /associations\/(?:\d{4}-\d{2}\/)?([^/]+)\/contacts\/batch\/(\w+)/.exec(path);
    if (association !== null) return this.#associate(association[1]!, association[2]!, inputs);
    const [, objectType, call] = /objects\/(?:\d{4}-\d{2}\/)?([^/]+)\/batch\/(\w+)/.exec(path) ?? [];
    if (objectType === undefined || call === undefined) return { status: 404 };
    return this.#batch(objectType, call, body, inputs);
  }

  #marketing(
    method: string,
    path: string,
    body: FakeRequest['body'],
    inputs: readonly Record<string, unknown>[],
  ): Scripted {
    const [, externalId] = /\/([^/]+)\/identifiers$/.exec(path) ?? [];
    if (externalId !== undefined) {
      const named = [...this.events.values()].filter(({ externalEventId }) => externalEventId === externalId);
      return { status: 200, body: { total: named.length, results: named } };
    }
    if (path.includes('/events/upsert')) {
      const results = inputs.map((input) => {
        const objectId = String((this.#nextId += 1));
        this.events.set(objectId, { ...input, objectId });
        return { ...input, objectId };
      });
      return { status: 200, body: { results } };
    }
    const attendance = /(\d+)\/attendance\/(\w+)\/(email-)?create$/.exec(path);
    if (attendance !== null) return this.#attend(attendance[1]!, attendance[2]!, inputs);
    const event = this.events.get(path.split('/').at(-1)!);
    if (method !== 'PATCH' || event === undefined) return { status: 404, body: { category: 'OBJECT_NOT_FOUND' } };
    Object.assign(event, body);
    return { status: 200, body: event };
  }

  #list(path: string, ids: unknown): Scripted {
    const [, listId, how] = /lists\/(?:\d{4}-\d{2}\/)?(\d+)(?:\/memberships\/(\w+))?$/.exec(path)!;
    const members = this.lists.get(listId!);
    if (members === undefined) return { status: 404 };
    if (how === undefined) return { status: 200, body: { list: { processingType: 'MANUAL', objectTypeId: '0-1' } } };
    for (const id of ids as string[]) members[how === 'add' ? 'add' : 'delete'](id);
    return { status: 200, body: {} };
  }

  #notesOf(inputs: readonly Record<string, unknown>[]): Scripted {
    const found = inputs.map(({ id }) => {
      const notes = this.associations.filter((each) => each.endsWith(` contacts ${id as string}`));
      return { from: { id }, to: notes.map((each) => ({ toObjectId: each.split(' ')[1] })) };
    });
    const none = found.filter(({ to }) => to.length === 0);
    const errors = none.map(({ from }) => ({
      category: 'OBJECT_NOT_FOUND',
      subCategory: 'crm.associations.NO_ASSOCIATIONS_FOUND',
      context: { fromObjectId: [from.id] },
    }));
    return { status: 200, body: { results: found.filter(({ to }) => to.length > 0), errors } };
  }

  #attend(event: string, state: string, inputs: readonly Record<string, unknown>[]): Scripted {
    if (!this.events.has(event)) return { status: 404, body: { category: 'OBJECT_NOT_FOUND' } };
    const results = inputs.map(({ email, vid }) => {
      const found = [...this.of('contacts').values()].find(
        ({ id, properties }) => id === String(vid as number) || properties.email === email,
      );
      const contact = found ?? this.put('contacts', { email: email as string });
      this.attendances.push({
        event: String(this.events.get(event)!.externalEventId),
        state,
        who: contact.properties.email!,
      });
      return { vid: Number(contact.id), ...(email !== undefined && { email }) };
    });
    return { status: 200, body: { results } };
  }

  #associate(objectType: string, call: string, inputs: readonly Record<string, unknown>[]): Scripted {
    for (const { from, to } of inputs as { from: { id: string }; to: { id: string } | { id: string }[] }[]) {
      for (const { id } of [to].flat()) {
        const text = `${objectType} ${from.id} contacts ${id}`;
        if (call === 'associate') this.associations.push(text);
        else if (this.associations.includes(text)) this.associations.splice(this.associations.indexOf(text), 1);
      }
    }
    return { status: 200, body: { results: [] } };
  }

  #batch(
    objectType: string,
    call: string,
    body: FakeRequest['body'],
    inputs: readonly Record<string, unknown>[],
  ): Scripted {
    const records = this.of(objectType);
    const results: Record<string, unknown>[] = [];
    const errors: Record<string, unknown>[] = [];
    for (const input of inputs) {
      const property = (body.idProperty ?? input.idProperty) as string | undefined;
      const found = [...records.values()].find(({ id, properties }) =>
        property === undefined ? id === input.id : properties[property] === input.id,
      );
      if (call === 'archive') records.delete(String(input.id));
      else if (call === 'read' || call === 'update') {
        if (found === undefined) {
          errors.push({ category: 'OBJECT_NOT_FOUND', context: { ids: [input.id] } });
          continue;
        }
        if (call === 'update') this.#write(found, input.properties as Record<string, string>);
        results.push(shown(found, input, body));
      } else {
        const record = found ?? this.put(objectType, {});
        this.#write(record, input.properties as Record<string, string>);
        for (const { to } of (input.associations ?? []) as { to: { id: string } }[]) {
          this.associations.push(`${objectType} ${record.id} contacts ${to.id}`);
        }
        results.push({ ...shown(record, input, body), new: found === undefined });
      }
    }
    if (call === 'archive') return { status: 204 };
    const updatedAt = new Date(this.nowMs).toISOString();
    return {
      status: errors.length > 0 ? 207 : 200,
      body: { status: 'COMPLETE', results: results.map((each) => ({ ...each, updatedAt })), errors },
    };
  }

  #write(record: FakeRecord, properties: Record<string, string>): void {
    for (const [name, value] of Object.entries(properties)) {
      if (record.properties[name] === value) continue;
      record.properties[name] = value;
      record.changedAtMs[name] = this.nowMs;
    }
  }
}

function shown(
  { id, properties, changedAtMs }: FakeRecord,
  { objectWriteTraceId }: Record<string, unknown>,
  { propertiesWithHistory }: Record<string, unknown>,
): Record<string, unknown> {
  const history = ((propertiesWithHistory ?? []) as string[]).map((name) => [
    name,
    changedAtMs[name] === undefined
      ? []
      : [{ value: properties[name], timestamp: new Date(changedAtMs[name]).toISOString() }],
  ]);
  return { id, properties, objectWriteTraceId, propertiesWithHistory: Object.fromEntries(history) as object };
}

/** A sink that sends to a fake account, with the engine's bookkeeping of objects in small. */
export class Desk {
  readonly #objects = new Map<string, Fields | null>();
  readonly #memory: Record<string, unknown> = {};
  #sink: Sink<HubSpotOperation>;

  private constructor(
    readonly account: FakeAccount,
    private readonly openSink: () => Sink<HubSpotOperation>,
  ) {
    this.#sink = openSink();
  }

  get sink(): Sink<HubSpotOperation> {
    return this.#sink;
  }

  /** Restarts the process, with the state that the engine keeps. */
  async restart(): Promise<void> {
    await this.#sink.close();
    this.#sink = this.openSink();
  }

  static async open(
    records: readonly unknown[],
    { environment = {}, tuning = {}, ...keys }: DeskOptions = {},
  ): Promise<Desk> {
    const account = new FakeAccount();
    const baseUrl = await account.start();
    const config = loadHubSpotConfig({ token: new Secret('pat-test-7f3a'), baseUrl, records, ...keys });
    return new Desk(account, () =>
      createHubSpotSink(
        config,
        { name: 'crm', baseFolder: '/', network: { allowHosts: [] }, ...environment },
        { now: () => account.nowMs, requestTimeoutMs: 60_000, ...tuning },
      ),
    );
  }

  get lane(): Lane {
    return {
      workspace: 'acme',
      pigeonholeId: 101,
      ledgerId: 'ledger-1',
      memory: { ...this.#memory },
      remember: (memory) => Promise.resolve(void Object.assign(this.#memory, memory)),
      objects: () => this.#made(),
    };
  }

  async *#made(): AsyncGenerator<Fields, void> {
    for (const object of this.#objects.values()) if (object !== null) yield object;
  }

  objectOf({ change }: Pick<Subject, 'change'>): Fields | null {
    return this.#objects.get(`${change.list} ${change.key}`) ?? null;
  }

  /** Plans, sends, and keeps the outcomes. A change that is not sent has its reason or cause instead. */
  async deliver(
    subjects: readonly Subject[],
    how: 'send' | 'recover' = 'send',
    signal = new AbortController().signal,
  ): Promise<(Outcome | { kind: 'nothing'; reason: string } | { kind: 'unplannable'; cause: string })[]> {
    const known = subjects.map((subject) => ({ ...subject, object: subject.object ?? this.objectOf(subject) }));
    const planned = await this.sink.plan(known);
    const operations = planned.flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
    const result =
      how === 'send'
        ? await this.sink.send(operations, this.lane, signal)
        : await this.sink.recover!(operations, this.lane, signal);
    Object.assign(this.#memory, result.memory);
    let next = 0;
    return planned.map((each, at) => {
      if (each.kind !== 'send') return each;
      const outcome = result.outcomes[next++]!;
      const { list, key } = known[at]!.change;
      if (outcome.object !== undefined) this.#objects.set(`${list} ${key}`, outcome.object);
      return outcome;
    });
  }

  /** Continues with the state of another desk, like a sink after its key was replaced. */
  takeOver(other: Desk): void {
    for (const [item, object] of other.#objects) this.#objects.set(item, object);
    Object.assign(this.#memory, other.#memory);
  }

  /** As a version before this one kept its state: without HubSpot's id of the event. */
  forgetEvent(): void {
    for (const [key, value] of Object.entries(this.#memory)) this.#memory[key] = (value as { digest: string }).digest;
    for (const [item, object] of this.#objects) {
      const { eventId: _, ...made } = (object?.['marketing-event'] ?? {}) as Fields;
      if (object !== null) this.#objects.set(item, { ...object, 'marketing-event': made });
    }
  }

  async close(): Promise<void> {
    await this.sink.close();
    await this.account.close();
  }
}

export interface DeskOptions {
  readonly environment?: Partial<SinkEnvironment>;
  readonly tuning?: HubSpotTuning;
  readonly apiVersion?: string;
  /** Another account than the fake one, and a key for it. */
  readonly baseUrl?: string;
  readonly token?: Secret;
}
