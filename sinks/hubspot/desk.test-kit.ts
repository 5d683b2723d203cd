import { Secret } from '../../config/secret.js';
import type { HubSpotOptions } from '../../sandbox/hubspot/account.js';
import type { CrmRecord } from '../../sandbox/hubspot/portal.js';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Fields, HeldResult, Lane, Outcome, ReadBack, Sink, SinkEnvironment, Subject } from '../sink.js';
import { createHubSpotSink, type HubSpotTuning } from './hubspot.js';
import { loadHubSpotConfig } from './load-config.test-kit.js';
import type { HubSpotOperation } from './operation.js';
import { environmentOf } from '../sink-environment.test-kit.js';

interface SinkOptions {
  readonly environment?: Partial<SinkEnvironment>;
  readonly tuning?: HubSpotTuning;
  readonly apiVersion?: string;
  readonly token?: string;
}

/** Options of the stand-in, which is a new account by default, and of the sink. */
export type DeskOptions = Omit<HubSpotOptions, 'now'> & SinkOptions;

type Delivered = Outcome | { kind: 'nothing'; reason: string } | { kind: 'unplannable'; cause: string };

/** A sink at a stand-in account, with a minimal version of the engine's bookkeeping. Both use one clock. */
export class Desk {
  readonly #objects = new Map<string, Fields | null>();
  readonly #memory: Record<string, unknown> = {};
  #sink: Sink<HubSpotOperation>;

  private constructor(
    readonly hubspot: HubSpotDouble,
    /** The current time, which only a test changes. */
    readonly clock: { nowMs: number },
    private readonly openSink: () => Sink<HubSpotOperation>,
  ) {
    this.#sink = openSink();
  }

  static async open(records: readonly unknown[], options: DeskOptions = {}): Promise<Desk> {
    const { environment, tuning, apiVersion, token, ...account } = options;
    const clock = { nowMs: Date.parse('2026-11-21T09:30:00Z') };
    const hubspot = await startHubSpotDouble({ now: () => clock.nowMs, ...account });
    return Desk.#at(hubspot, clock, records, {
      ...(environment && { environment }),
      ...(tuning && { tuning }),
      ...(apiVersion && { apiVersion }),
      ...(token && { token }),
    });
  }

  static #at(
    hubspot: HubSpotDouble,
    clock: { nowMs: number },
    records: readonly unknown[],
    { environment, tuning, token = 'hubspot-token', ...keys }: SinkOptions,
  ): Desk {
    const config = loadHubSpotConfig({ token: new Secret(token), baseUrl: hubspot.url, records, ...keys });
    return new Desk(hubspot, clock, () =>
      createHubSpotSink(
        config,
        environmentOf('crm', { now: () => clock.nowMs, requestTimeoutMs: 60_000, ...environment }),
        tuning,
      ),
    );
  }

  /**
   * Opens another sink at the same account. With another token, it is another app there. Close its `sink` afterwards.
   */
  another(records: readonly unknown[], options: SinkOptions = {}): Desk {
    return Desk.#at(this.hubspot, this.clock, records, options);
  }

  get sink(): Sink<HubSpotOperation> {
    return this.#sink;
  }

  get account(): HubSpotDouble['account'] {
    return this.hubspot.account;
  }

  get contacts(): CrmRecord[] {
    return this.account.portal.all(this.account.contacts);
  }

  /** Creates a contact as a colleague would in HubSpot. */
  createContact(values: Readonly<Record<string, string>>): CrmRecord {
    return this.account.portal.create(this.account.contacts, values);
  }

  /** Returns the values of all records of a kind, oldest first. */
  valuesOf(objectType: string): Record<string, string>[] {
    return this.account.portal.all(this.account.type(objectType)).map(({ values }) => Object.fromEntries(values));
  }

  /** Returns the states of all participations, by event. */
  get participations(): string[] {
    const { marketingEvents } = this.account;
    return marketingEvents
      .all()
      .flatMap((event) => marketingEvents.participationsOf(event))
      .map(({ state }) => state);
  }

  /** Returns the paths of all requests so far that contain this text. */
  paths(part = ''): string[] {
    return this.hubspot.requests.map(({ path }) => path).filter((path) => path.includes(part));
  }

  /** Restarts the process with the state that the engine stores. */
  async restart(): Promise<void> {
    await this.#sink.close();
    this.#sink = this.openSink();
  }

  async check(): Promise<{ ok: string[]; failing: string[] }> {
    const lines = await this.sink.check(new AbortController().signal);
    const textsOf = (ok: boolean) => lines.filter((line) => line.ok === ok).map(({ text }) => text);
    return { ok: textsOf(true), failing: textsOf(false) };
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

  /** Plans, sends, and stores the outcomes. A change that is not sent has its reason or cause instead. */
  async deliver(
    subjects: readonly Subject[],
    how: 'send' | 'recover' = 'send',
    signal = new AbortController().signal,
  ): Promise<Delivered[]> {
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

  /**
   * Reads back what was delivered of these subjects, and returns what differs of each: `missing`, the names of parts and
   * properties, copies, or why it cannot be read. Nothing that agrees has an entry.
   */
  async audit(subjects: readonly Subject[]): Promise<Record<string, unknown>> {
    return (await this.#readBack(subjects)).differences;
  }

  /** Audits, and then sends what differs again, as the engine does. */
  async repair(subjects: readonly Subject[]): Promise<void> {
    const { entries, results, differences } = await this.#readBack(subjects);
    const { signal } = new AbortController();
    const differing = subjects.filter(({ change }) => change.key in differences);
    for (const [index, result] of results.entries()) {
      const { change } = entries[index]!;
      if (!(change.key in differences)) continue;
      if ('copies' in result && result.copies !== undefined) {
        await this.sink.removeHeld!([{ ...entries[index]!, copies: result.copies }], this.lane, signal);
      }
      if ('object' in result && result.object !== undefined) {
        this.#objects.set(`${change.list} ${change.key}`, result.object);
      }
    }
    for (let rounds = 0; rounds < 3; rounds += 1) await this.deliver(differing.map(again));
  }

  async #readBack(subjects: readonly Subject[]) {
    const known = subjects.map((subject) => ({ ...again(subject), object: this.objectOf(subject) }));
    const planned = await this.sink.plan(known);
    const entries = known.flatMap((subject, index): ReadBack<HubSpotOperation>[] => {
      const plan = planned[index]!;
      const { change, object, removal } = subject;
      const expected = removal === null ? 'content' : 'absence';
      if (plan.kind === 'nothing' || (plan.kind === 'unplannable' && expected === 'content')) return [];
      return [{ change, object, removal, expected, operation: plan.kind === 'send' ? plan.operation : null }];
    });
    const results = await this.sink.readBack!(entries, this.lane, new AbortController().signal);
    const differences = Object.fromEntries(
      entries.flatMap(({ change, operation, expected }, index) => {
        const found = differenceOf(results[index]!, operation, expected, this.sink);
        return found === undefined ? [] : [[change.key, found]];
      }),
    );
    return { entries, results, differences };
  }

  /** Continues with the state of another desk, like a sink after its key was replaced. */
  takeOver(other: Desk): void {
    for (const [item, object] of other.#objects) this.#objects.set(item, object);
    Object.assign(this.#memory, other.#memory);
  }

  /** Forgets what the lane knows of the event, like a lane of another ledger. */
  forgetEvent(): void {
    for (const key of Object.keys(this.#memory)) delete this.#memory[key];
  }

  async close(): Promise<void> {
    await this.sink.close();
    await this.hubspot.close();
  }
}

function again(subject: Subject): Subject {
  return { ...subject, again: true };
}

function differenceOf(
  result: HeldResult,
  operation: HubSpotOperation | null,
  expected: ReadBack['expected'],
  sink: Sink<HubSpotOperation>,
): unknown {
  if (result.kind === 'missing') return expected === 'absence' ? undefined : 'missing';
  if (result.kind === 'unreadable') return result.cause;
  if (result.kind !== 'held') return result;
  const names = operation === null ? ['extra'] : sink.compareHeld!(operation, result.held);
  const { copies, changedBy } = result;
  if (names.length === 0 && copies === undefined) return undefined;
  return {
    ...(names.length > 0 && { names }),
    ...(copies && { copies: copies.length }),
    ...(changedBy !== undefined && { changedBy }),
  };
}

export const pigeonhole = { id: 101, name: 'Autumn', startDate: '2026-11-20' };

export function attendee(key: number, data: Fields | null, around: Partial<Subject> = {}): Subject {
  const change = sampleChange({ id: `a-${key}`, list: 'attendees', key: String(key), type: 'attendees.updated', data });
  return subjectOf(change, { pigeonhole, ...around });
}

/** Returns attendees with the addresses p0@example.com, p1@example.com … */
export function people(count: number): Subject[] {
  return Array.from({ length: count }, (_, n) => attendee(n, { Email: `P${n}@Example.com`, Name: `P${n}` }));
}

/** Returns a question of ada@example.com, unless `around` names another attendee. */
export function question(key: number, data: Fields | null = { content: 'When?' }, around?: Partial<Subject>): Subject {
  const change = sampleChange({
    id: `q-${key}`,
    list: 'qna-questions',
    key: String(key),
    type: 'qna-questions.created',
    data,
  });
  return subjectOf(change, { pigeonhole, ...(around ?? { attendee: { Email: 'ada@example.com' } }) });
}

export const kinds = (outcomes: readonly { kind: string }[]): string[] => outcomes.map(({ kind }) => kind);
