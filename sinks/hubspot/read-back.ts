import { chunksOf, groupBy } from '../../base/grouping.js';
import { differingFields } from '../records/differing-fields.js';
import { compareParts, ReadItem, type ReadJob, readJobs } from '../records/read-item.js';
import type { RecordWrites, SharedRecords } from '../records/shared-records.js';
import { type Fields, fieldsOf, type HeldResult, type Lane, type ReadBack, type Result } from '../sink.js';
import { associatedIds } from './associated-ids.js';
import { readRecords, type RecordReply, type Sending } from './batch.js';
import { listOf } from './classify.js';
import { clockToleranceMs } from './event-times.js';
import {
  type ForgetStep,
  type HubSpotOperation,
  type NoteStep,
  type PropertyWrite,
  type RecordStep,
  type RegistrationStep,
  removalOf,
  type Step,
} from './operation.js';
import { changedAtMs, happenedAtMs, nameParts, needsHistory, timeOf } from './present-values.js';
import { isSameProperty, type KnownKinds, type PropertyKinds } from './property-kinds.js';
import { attendedAs, type Participation, type Participations } from './participations.js';
import { identifiesOther, rules } from './send-records.js';

/** The data that comparing a step with its record needs. Personal data: kept in memory only. */
interface Held {
  /** Values by property, as HubSpot returns them. */
  readonly properties: Fields;
  readonly kinds?: PropertyKinds;
  /** Event time of the present `if-newer` values, Unix time in ms. */
  readonly happenedAtMs?: ReadonlyMap<string, number>;
  readonly isMerged?: boolean;
  /** Properties whose value belongs to another item with the same record. */
  readonly ofOthers?: ReadonlySet<string>;
  /** The static lists of the contact. */
  readonly lists?: ReadonlySet<string>;
  /** Whether the record is still associated with its contact. */
  readonly isAssociated?: boolean;
  /** The state of a registration. */
  readonly attendance?: string | null;
}

type Item = ReadItem<Step, Held>;
type Reading<S extends Step> = ReadJob<S, Step, Held>;

/** The parts of the sink that keep data between two calls. */
export interface ReadMemory {
  readonly kinds: KnownKinds;
  readonly shared: SharedRecords;
  readonly participations: Participations;
}

/** The declared cause of what HubSpot does not show. */
const REFUSED = 'hubspot:not-readable';

/** Whether a step removes what it is about. */
function removes(step: Step): boolean {
  if (step.kind === 'registration') return step.event.details === null;
  return ['forget', 'leave', 'archive', 'by-hand'].includes(step.kind);
}

/**
 * Reads what HubSpot holds of items: their contacts and records of custom objects with lists and associations, their
 * notes and registrations. Only reads.
 */
export async function readBackItems(
  wanted: readonly ReadBack<HubSpotOperation>[],
  lane: Lane,
  sending: Sending,
  memory: ReadMemory,
): Promise<HeldResult[]> {
  const items = wanted.map((entry): Item => {
    return new ReadItem(entry, entry.operation?.steps ?? removalSteps(entry), { removes, refused: REFUSED });
  });
  const reading = new Reader(lane, sending, memory);
  await reading.records(readJobs(items, 'record'));
  await reading.forgotten(readJobs(items, 'forget'));
  await reading.left(readJobs(items, 'leave'));
  await reading.archived(readJobs(items, 'archive'));
  await reading.notes(readJobs(items, 'note'));
  await reading.registrations(readJobs(items, 'registration'));
  return items.map((item) => item.result());
}

/** Returns the steps that would remove everything that an item's object names, if an operator has to remove it. */
function removalSteps({ object, change }: ReadBack<HubSpotOperation>): Step[] {
  return Object.entries(object ?? {}).flatMap(
    ([record, made]) => removalOf({ record, made }, 'consent', { change }, 'delete') ?? [],
  );
}

/** Returns the names of the parts and properties in which HubSpot differs from an operation. Pure. */
export function compareItem(operation: HubSpotOperation, held: unknown): string[] {
  return compareParts<Step, Held>(operation, held, removes, (step, facts) => {
    switch (step.kind) {
      case 'record':
        return differingParts(step, facts);
      case 'note':
        return Object.entries(step.properties).flatMap(([name, value]) =>
          isSameNote(name, facts.properties[name], value) ? [] : [name],
        );
      case 'registration':
        return isAttendedAs(step.attendance, facts.attendance ?? null) ? [] : ['attendance'];
      default:
        return [];
    }
  });
}

function differingParts(step: RecordStep, held: Held): string[] {
  return [
    ...differingProperties(step, held),
    ...step.lists.filter((id) => held.lists?.has(id) === false).map((id) => `list ${id}`),
    ...(step.contact !== null && held.isAssociated === false ? ['contact'] : []),
  ];
}

function differingProperties(step: RecordStep, held: Held): string[] {
  const { properties, kinds, isMerged = false, ofOthers } = held;
  const search = { step, id: step.id, foundBy: null, isMerged };
  const writes = step.write.filter((write) => !identifiesOther(search, write));
  const present = new Map(
    Object.entries(properties).map(([name, value]) => {
      return [name, { value, happenedAtMs: held.happenedAtMs?.get(name) ?? Number.NEGATIVE_INFINITY }];
    }),
  );
  const isSame = (name: string, there: unknown, value: unknown): boolean =>
    isSameProperty(name, there, value, kinds?.get(name));
  return differingFields(writes, present, step.happenedAtMs, { ...rules, isSame }).filter(
    (name) => ofOthers?.has(name) !== true,
  );
}

/** Whether a note has this value. HubSpot may return the HTML of a text in another form, so the texts are compared. */
function isSameNote(name: string, present: unknown, sent: string): boolean {
  if (name === 'hs_timestamp') return timeOf(present) === timeOf(sent);
  if (name !== 'hs_note_body') return isSameProperty(name, present, sent, undefined);
  return typeof present === 'string' && textOf(present) === textOf(sent);
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', '#39': "'" };

function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(amp|lt|gt|quot|nbsp|#39);/g, (_, name: string) => entities[name]!)
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * Whether a participation agrees with what was sent. `register` never replaces an attendance, and HubSpot makes people
 * who were registered and did not attend no-shows.
 */
function isAttendedAs(attendance: RegistrationStep['attendance'], state: string | null): boolean {
  switch (attendance) {
    case 'register':
      return ['REGISTERED', 'NO_SHOW', 'ATTENDED'].includes(state ?? '');
    case 'attend':
      return state === 'ATTENDED';
    case 'cancel':
      return !['REGISTERED', 'NO_SHOW', 'ATTENDED'].includes(state ?? '');
  }
}

/** Returns the writes in an item's object, for items that share a record. */
export function recordWritesIn(object: Fields): RecordWrites[] {
  return Object.entries(object).flatMap(([record, made]) => {
    const { id, writtenAtMs } = fieldsOf(made);
    if (typeof id !== 'string') return [];
    const times = Object.entries(fieldsOf(writtenAtMs)).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number',
    );
    return [{ record: `${typeOf(record)} ${id}`, writtenAtMs: new Map(times) }];
  });
}

function typeOf(record: string): string {
  return record.replace(/ \d+$/, '');
}

type Found = Readonly<Record<string, unknown>>;

class Reader {
  constructor(
    private readonly lane: Lane,
    private readonly sending: Sending,
    private readonly memory: ReadMemory,
  ) {}

  /** Reads contacts and records of custom objects, with their lists and associations. */
  async records(jobs: readonly Reading<RecordStep>[]): Promise<void> {
    const known = jobs.filter(({ step }) => step.id !== null);
    for (const [objectType, same] of groupBy(known, ({ step }) => step.objectType)) {
      const written = same.flatMap(({ step }) => step.write.map(({ name }) => name));
      const names = [...new Set([...written, ...(objectType === 'contacts' ? nameParts : [])])];
      const found = await this.#find(same, objectType, names);
      await this.#compare(objectType, found);
      if (objectType === 'contacts') await this.#lists(same);
      else await this.#associations(same, objectType);
    }
  }

  /** Finds out whether a record still has values of this sink that must be cleared, or is in lists. */
  async forgotten(jobs: readonly Reading<ForgetStep>[]): Promise<void> {
    for (const [objectType, same] of groupBy(jobs, ({ step }) => step.objectType)) {
      const names = [...new Set(same.flatMap(({ step }) => Object.keys(step.writtenAtMs)))];
      const found = await this.#find(same, objectType, names, names);
      for (const [job, record] of found) {
        const { writtenAtMs, sinceMs } = job.step;
        const isMerged = String(record.id) !== job.step.id;
        const ours = Object.entries(writtenAtMs).filter(([name, atMs]) => {
          const changed = changedAtMs(record, name);
          const isThere = (fieldsOf(record.properties)[name] ?? '') !== '';
          return (
            isThere &&
            (isMerged ||
              (changed !== undefined && changed >= sinceMs - clockToleranceMs && changed <= atMs + clockToleranceMs))
          );
        });
        if (ours.length > 0) job.item.there(job.step.record, { properties: {} }, { isMerged });
        else job.item.missing(job.step.record);
      }
      await this.left(same.filter(({ item, step }) => item.factsOf(step.record) === undefined));
    }
  }

  /** Finds out whether contacts are still in lists that they must leave. */
  async left(jobs: readonly Reading<Extract<Step, { readonly lists: readonly string[]; readonly id: string }>>[]) {
    const listed = jobs.filter(({ item, step }) => item.isOpen && step.lists.length > 0);
    const lists = await this.#listsOf(listed, ({ step }) => step.id);
    for (const job of jobs.filter(({ item }) => item.isOpen)) {
      const { record, lists: own } = job.step;
      const found = lists.get(job);
      if (own.some((id) => found?.has(id) === true)) job.item.there(record, { properties: {} });
      else job.item.missing(record);
    }
  }

  /** Finds out whether records that were removed exist. */
  async archived(jobs: readonly Reading<Extract<Step, { kind: 'archive' }>>[]): Promise<void> {
    for (const [objectType, same] of groupBy(jobs, ({ step }) => step.objectType)) {
      for (const [job, record] of await this.#find(same, objectType, [])) {
        const isMerged = String(record.id) !== job.step.id;
        job.item.there(job.step.record, { properties: {} }, { isMerged });
      }
    }
  }

  async notes(jobs: readonly Reading<NoteStep>[]): Promise<void> {
    const known = jobs.filter(({ step }) => step.id !== null);
    if (known.length === 0) return;
    const names = [...new Set(known.flatMap(({ step }) => Object.keys(step.properties)))];
    const found = await this.#find(known, 'notes', names);
    for (const [job, record] of found) {
      job.item.there(job.step.record, { properties: fieldsOf(record.properties) });
    }
    // A note that a user deleted is written again only by a repair, which an operator wants.
    for (const { item, step } of known) {
      if (item.isOpen && item.factsOf(step.record) === undefined) item.correct(step.record, null);
    }
    const differing = [...found.keys()].filter(
      ({ item, step }) =>
        compareItem({ changeId: '', object: null, steps: [step] }, new Map(partsOf(item, step))).length > 0,
    );
    const histories = await this.#find(differing, 'notes', [], names);
    for (const [job, record] of histories) this.#changedBy(job.item, record, names, {});
    await this.#copiesOf([...found.keys()]);
  }

  async registrations(jobs: readonly Reading<RegistrationStep>[]): Promise<void> {
    const known = jobs.filter(({ step }) => step.contactId !== null && this.#eventOf(step) !== null);
    for (const [eventId, same] of groupBy(known, ({ step }) => this.#eventOf(step)!)) {
      const found = await this.#participations(eventId, same, ({ step }) => step.contactId!);
      // The participations of a merged contact have moved to the other one.
      const lost = same.filter((job) => job.isOpen && found.get(job) === null);
      const moved = await this.#moved(lost, 'contacts', ({ step }) => step.contactId!);
      const others = await this.#participations(eventId, [...moved.keys()], (job) => moved.get(job)!);
      for (const job of same.filter(({ isOpen }) => isOpen)) {
        const contactId = moved.get(job);
        // HubSpot answers a registration by the old id with the new one.
        if (contactId !== undefined && !removes(job.step)) {
          job.item.correct(job.step.record, { ...job.item.madeOf(job.step.record), contactId });
        }
        this.#registered(job, others.get(job) ?? found.get(job) ?? null);
      }
    }
  }

  async #participations(
    eventId: string,
    jobs: readonly Reading<RegistrationStep>[],
    contactIdOf: (job: Reading<RegistrationStep>) => string,
  ): Promise<Map<Reading<RegistrationStep>, Participation | null>> {
    if (jobs.length === 0) return new Map();
    const wanted = jobs.map((job) => ({
      contactId: contactIdOf(job),
      isExpected: (state: string | null) => isAttendedAs(job.step.attendance, state),
    }));
    const found = await this.memory.participations.read(eventId, wanted, this.sending);
    if ('kind' in found) {
      for (const job of jobs) job.end(found);
      return new Map();
    }
    return new Map(jobs.map((job) => [job, found.get(contactIdOf(job)) ?? null]));
  }

  #registered({ item, step }: Reading<RegistrationStep>, participation: Participation | null): void {
    const state = participation?.state ?? null;
    const isThere = removes(step) ? !isAttendedAs('cancel', state) : participation !== null;
    if (isThere) item.there(step.record, { properties: {}, attendance: state });
    else item.missing(step.record);
    if (isAttendedAs(step.attendance, state)) return;
    if (participation !== null) item.changed(undefined, participation.occurredAtMs);
    if (removes(step)) return;
    const { attendance: _, presence: __, ...made } = item.madeOf(step.record);
    const as = attendedAs(state);
    item.correct(step.record, {
      ...made,
      ...(as !== undefined && { attendance: as }),
      // HubSpot believes the latest interaction.
      ...(participation !== null && { changedAtMs: participation.occurredAtMs }),
    });
  }

  /** The event of a registration: the one that a delivery would use. */
  #eventOf({ event, eventId, attendance }: RegistrationStep): string | null {
    const { objectId } = fieldsOf(
      this.lane.memory[`marketing-event ${event.externalAccountId} ${event.externalEventId}`],
    );
    const present = typeof objectId === 'string' ? objectId : null;
    return attendance === 'cancel' ? (eventId ?? present) : (present ?? eventId);
  }

  /**
   * Reads the records of jobs. Marks those that do not exist as missing. A record that was merged is returned as the one
   * into which it was merged.
   */
  async #find<J extends Reading<Exclude<Step, { kind: 'registration' | 'by-hand' }>>>(
    jobs: readonly J[],
    objectType: string,
    properties: readonly string[],
    withHistory: readonly string[] = [],
  ): Promise<Map<J, Found>> {
    const open = jobs.filter(({ isOpen }) => isOpen);
    const found = new Map<J, Found>();
    if (open.length === 0) return found;
    const ids = open.map(({ step }) => step.id!);
    const replies = await readRecords(this.sending, objectType, ids, { properties, withHistory });
    const lost: J[] = [];
    open.forEach((job, index) => {
      const reply = replies[index]!;
      if (reply.kind === 'done') found.set(job, reply.result);
      else if (reply.kind === 'missing') lost.push(job);
      else job.end(resultOf(reply));
    });
    const moved = await this.#moved(lost, objectType, ({ step }) => step.id!);
    const movedJobs = [...moved.keys()];
    const others = await readRecords(this.sending, objectType, [...moved.values()], { properties, withHistory });
    movedJobs.forEach((job, index) => {
      const reply = others[index]!;
      if (reply.kind === 'done') found.set(job, reply.result);
      else if (reply.kind !== 'missing') job.end(resultOf(reply));
    });
    for (const job of lost) if (job.isOpen && !found.has(job)) job.item.missing(job.step.record);
    return found;
  }

  /**
   * Returns the ids of the records into which records were merged. HubSpot answers the id of a merged record with the
   * other one, without saying which of several ids it answers, so a call with an unexpected answer is halved.
   */
  async #moved<J extends Reading<Step>>(
    lost: readonly J[],
    objectType: string,
    idOf: (job: J) => string,
  ): Promise<Map<J, string>> {
    const moved = new Map<J, string>();
    const { client, budget } = this.sending;
    const path = client.path('objects', `${objectType}/batch/read`);
    const queue = chunksOf([...groupBy(lost, idOf).values()], 100);
    for (let part = queue.shift(); part !== undefined; part = queue.shift()) {
      const inputs = part.map(([job]) => ({ id: idOf(job!) }));
      const reply = await client.call('POST', path, { inputs, properties: [], propertiesWithHistory: [] }, budget);
      if (reply.kind !== 'ok') {
        for (const job of part.flat()) job.end(reply.kind === 'failed' ? reply.result : refusedRead(reply.status));
        continue;
      }
      const results = listOf(reply.body.results).map(fieldsOf);
      const [{ id } = {}] = results;
      if (results.length === 0 || typeof id !== 'string') continue;
      if (part.length === 1) for (const job of part[0]!) moved.set(job, id);
      else queue.push(...chunksOf(part, Math.ceil(part.length / 2)));
    }
    return moved;
  }

  /** Compares records, and reads the types and the history of the properties that seem to differ. */
  async #compare(objectType: string, found: ReadonlyMap<Reading<RecordStep>, Found>): Promise<void> {
    const kinds = new Map<Reading<RecordStep>, Held>();
    for (const [job, record] of found) {
      const { item, step } = job;
      const properties = fieldsOf(record.properties);
      const unknown = step.write.find(({ name }) => !(name in properties));
      if (unknown !== undefined) {
        const detail = `HubSpot has no property ${unknown.name} of ${objectType}: it was renamed or deleted`;
        item.unreadable(`hubspot:PROPERTY_DOESNT_EXIST:${unknown.name}`, detail);
        continue;
      }
      const isMerged = String(record.id) !== step.id;
      kinds.set(job, { properties, isMerged });
      item.there(step.record, { properties, isMerged }, { isMerged });
      if (isMerged) item.correct(step.record, { ...item.madeOf(step.record), id: String(record.id), isMerged });
    }
    const suspects = [...kinds].filter(([{ step }, held]) => differingProperties(step, held).length > 0);
    if (suspects.length === 0) return;
    const defined = await this.memory.kinds.of(objectType, this.sending);
    const differing = new Map(
      suspects.flatMap(([job, held]) => {
        const names = differingProperties(job.step, { ...held, kinds: defined });
        job.item.there(job.step.record, { ...held, kinds: defined }, { isMerged: held.isMerged === true });
        return names.length > 0 ? [[job, names] as const] : [];
      }),
    );
    const names = [...new Set([...differing.values()].flat())];
    const histories = await this.#find([...differing.keys()], objectType, [], names);
    const latest = Math.max(
      0,
      ...[...histories.values()].flatMap((record) => names.map((name) => timeIn(record, name))),
    );
    await this.memory.shared.read(this.lane, latest);
    for (const [job, record] of histories) {
      const held = { ...kinds.get(job)!, kinds: defined, ...this.#decided(job.step, record, differing.get(job)!) };
      job.item.there(job.step.record, held, { isMerged: held.isMerged === true });
      const left = differingProperties(job.step, held);
      if (left.length > 0) this.#changedBy(job.item, record, left, job.step.writtenAtMs);
    }
  }

  /** Returns when present values happened, and which of them belong to other items with the same record. */
  #decided(step: RecordStep, record: Found, names: readonly string[]): Pick<Held, 'happenedAtMs' | 'ofOthers'> {
    const id = String(record.id);
    const dated = step.write.filter((write) => needsHistory(write) && names.includes(write.name));
    const ofOthers = names.filter((name) => {
      const atMs = step.writtenAtMs[name];
      if (atMs === undefined) return false;
      switch (this.memory.shared.lastWriter(`${step.objectType} ${id}`, name, atMs)) {
        case 'ours':
          return false;
        case 'other':
          return true;
        case 'together':
          return (changedAtMs(record, name) ?? 0) <= atMs + clockToleranceMs;
      }
    });
    return {
      happenedAtMs: new Map(
        dated.map(({ name }: PropertyWrite) => [name, happenedAtMs(record, step, this.sending.times, name)]),
      ),
      ofOthers: new Set(ofOthers),
    };
  }

  /**
   * Notes the latest change of some properties, with the kind and the id of who made it. The last write of this sink is
   * not a change in HubSpot.
   */
  #changedBy(item: Item, record: Found, names: readonly string[], writtenAtMs: Readonly<Record<string, number>>): void {
    for (const name of names) {
      const [entry] = listOf(fieldsOf(record.propertiesWithHistory)[name])
        .map(fieldsOf)
        .toSorted((a, b) => timeOf(b.timestamp) - timeOf(a.timestamp));
      if (entry === undefined) continue;
      const atMs = timeOf(entry.timestamp);
      if (!(atMs <= (writtenAtMs[name] ?? 0) + clockToleranceMs)) item.changed(sourceOf(entry), atMs);
    }
  }

  /** Reads the static lists of contacts that should be in some. */
  async #lists(jobs: readonly Reading<RecordStep>[]): Promise<void> {
    const listed = jobs.filter(({ item, step }) => step.lists.length > 0 && item.factsOf(step.record) !== undefined);
    const lists = await this.#listsOf(listed, ({ item, step }) => {
      const { id } = item.madeOf(step.record);
      return typeof id === 'string' ? id : step.id!;
    });
    for (const [{ item, step }, own] of lists) {
      const held = item.factsOf(step.record)!;
      item.there(step.record, { ...held, lists: own }, { isMerged: held.isMerged === true });
      if (step.lists.every((id) => own.has(id))) continue;
      // A delivery adds a contact only to lists to which it has not added it before.
      const before = step.listsBefore.filter((id) => own.has(id));
      item.correct(step.record, { ...item.madeOf(step.record), lists: before });
    }
  }

  async #listsOf<J extends Reading<Step>>(jobs: readonly J[], idOf: (job: J) => string): Promise<Map<J, Set<string>>> {
    const { client, budget } = this.sending;
    const lists = new Map<J, Set<string>>();
    const open = jobs.filter(({ isOpen }) => isOpen);
    for (const chunk of chunksOf([...groupBy(open, idOf)], 100)) {
      const inputs = chunk.map(([recordId]) => ({ objectTypeId: '0-1', recordId }));
      const path = client.path('lists', 'records/memberships/batch/read');
      const reply = await client.call('POST', path, { inputs }, budget);
      const found = reply.kind === 'ok' ? listOf(reply.body.results).map(fieldsOf) : [];
      for (const [id, same] of chunk) {
        const own = found.find(({ recordId }) => String(recordId) === id);
        const memberships = listOf(own?.recordListMemberships).map((each) => String(fieldsOf(each).listId));
        for (const job of same) {
          if (reply.kind === 'failed') job.end(reply.result);
          else if (reply.kind === 'refused') job.end(refusedRead(reply.status));
          else lists.set(job, new Set(memberships));
        }
      }
    }
    return lists;
  }

  /** Finds out whether records of a custom object are still associated with their contacts. */
  async #associations(jobs: readonly Reading<RecordStep>[], objectType: string): Promise<void> {
    const linked = jobs.filter(({ item, step }) => step.contactId !== null && item.factsOf(step.record) !== undefined);
    const names = { from: objectType, to: 'contacts' };
    const ids = await this.#associated(linked, ({ step }) => [step.id!], names);
    const lost = linked.filter((job) => ids.get(job)?.has(job.step.contactId!) === false);
    // The contact may have been merged. The association is then with the other one.
    const moved = await this.#moved(lost, 'contacts', ({ step }) => step.contactId!);
    for (const [job, own] of ids) {
      const { item, step } = job;
      const held = item.factsOf(step.record)!;
      const isAssociated = [step.contactId!, moved.get(job)].some((id) => id !== undefined && own.has(id));
      item.there(step.record, { ...held, isAssociated }, { isMerged: held.isMerged === true });
    }
  }

  /** Finds other notes with the mark of an item among the notes of its contacts: a user copied them. */
  async #copiesOf(jobs: readonly Reading<NoteStep>[]): Promise<void> {
    const contacts = await this.#associated(jobs, ({ step }) => [step.id!], { from: 'notes', to: 'contacts' });
    const open = [...contacts.keys()];
    const notes = await this.#associated(open, (job) => [...contacts.get(job)!], { from: 'contacts', to: 'notes' });
    const known = new Set(jobs.map(({ step }) => step.id));
    const others = [...new Set([...notes.values()].flatMap((ids) => [...ids]))].filter((id) => !known.has(id));
    if (others.length === 0) return;
    const replies = await readRecords(this.sending, 'notes', others, { properties: ['hs_note_body'] });
    const texts = new Map<string, string>();
    others.forEach((id, index) => {
      const reply = replies[index]!;
      if (reply.kind === 'failed' || reply.kind === 'rejected') for (const job of open) job.end(resultOf(reply));
      const body = reply.kind === 'done' ? fieldsOf(reply.result.properties).hs_note_body : undefined;
      if (typeof body === 'string') texts.set(id, textOf(body));
    });
    for (const { item, step } of open) {
      for (const [id, text] of texts) if (text.includes(step.mark)) item.copy(id);
    }
  }

  /** Returns the ids of the records with which records of each job are associated. */
  async #associated<J extends Reading<Step>>(
    jobs: readonly J[],
    idsOf: (job: J) => readonly string[],
    names: { readonly from: string; readonly to: string },
  ): Promise<Map<J, ReadonlySet<string>>> {
    const open = jobs.filter(({ isOpen }) => isOpen);
    const ids = open.flatMap(idsOf);
    const found = ids.length === 0 ? new Map<string, Set<string>>() : await associatedIds(ids, names, this.sending);
    if ('kind' in found) {
      for (const job of open) job.end(found);
      return new Map();
    }
    return new Map(open.map((job) => [job, new Set(idsOf(job).flatMap((id) => [...(found.get(id) ?? [])]))]));
  }
}

function* partsOf(item: Item, step: Step): Iterable<[string, unknown]> {
  yield [step.record, { kind: 'there', facts: item.factsOf(step.record), isMerged: false }];
}

function timeIn(record: Found, name: string): number {
  return changedAtMs(record, name) ?? 0;
}

/** Returns the kind of who changed a property, with the id of a user. Never a name or an address. */
function sourceOf({ sourceType, sourceId, updatedByUserId }: Fields): string | undefined {
  if (typeof sourceType !== 'string' || !/^[A-Z][A-Z_]{1,60}$/.test(sourceType)) return undefined;
  const user = /^(?:userId:)?(\d{1,18})$/.exec(String((updatedByUserId ?? sourceId ?? '') as string | number))?.[1];
  return user === undefined ? sourceType : `${sourceType} ${user}`;
}

function resultOf(reply: Exclude<RecordReply, { kind: 'done' | 'missing' }>): Result {
  return reply.kind === 'failed' ? reply.result : reply;
}

function refusedRead(status: number): Result {
  return { kind: 'rejected', cause: REFUSED, detail: `HubSpot refused to show records (HTTP ${status})` };
}
