import { isDeepStrictEqual } from 'node:util';
import type { Change } from './change.js';
import { type Fields, fieldsOf } from './sink.js';

/** A revision that a sink wrote to a log: a change without its data. */
export type LoggedRevision = Pick<Change, 'list' | 'key' | 'revision' | 'sequence' | 'timestamp'>;

/** The lines of one revision in a log. */
export interface HeldLine {
  /** The last line of the revision, because it is the one that a reader of the log ends with. */
  readonly line: string;
  readonly place: string;
  /** The places of the other lines, except replays. */
  readonly copies: readonly string[];
}

interface FoundLine {
  readonly line: string;
  readonly place: string;
  readonly isReplay: boolean;
}

/**
 * Collects the lines of requested revisions from a log, which may be read in any pieces as long as their lines are in
 * order. Lines of other revisions, and lines that are not a change envelope, are ignored.
 */
export class RevisionLines {
  readonly #lines: ReadonlyMap<string, FoundLine[]>;

  constructor(revisions: readonly Pick<LoggedRevision, 'list' | 'key' | 'revision'>[]) {
    this.#lines = new Map(revisions.map((revision) => [nameOf(revision), []]));
  }

  /** @param place where the line is, for an operator; without personal data */
  add(line: string, place: string): void {
    const { list, key, revision, replay } = envelopeOf(line);
    this.#lines.get(nameOf({ list, key, revision }))?.push({ line, place, isReplay: replay !== undefined });
  }

  /** Returns what was found of a revision; undefined if there is no line of it. */
  of(revision: Pick<LoggedRevision, 'list' | 'key' | 'revision'>): HeldLine | undefined {
    const found = this.#lines.get(nameOf(revision)) ?? [];
    const last = found.at(-1);
    if (last === undefined) return undefined;
    const originals = found.filter(({ isReplay }) => !isReplay);
    const { line, place } = last;
    return { line, place, copies: originals.slice(0, -1).map((each) => each.place) };
  }

  /** Returns the places of all lines of a revision. */
  placesOf(revision: Pick<LoggedRevision, 'list' | 'key' | 'revision'>): string[] {
    return (this.#lines.get(nameOf(revision)) ?? []).map(({ place }) => place);
  }
}

function nameOf({ list, key, revision }: Fields): string {
  return JSON.stringify([list, key, revision]);
}

/** Returns the change envelope of a line; no fields if the line is not JSON. */
export function envelopeOf(line: string): Fields {
  try {
    return fieldsOf(JSON.parse(line));
  } catch {
    return {};
  }
}

/**
 * Returns the names of the fields in which a line differs from the planned one, such as `revision` or `data.content`. A
 * replay has an id of its own. Fields that another program added are reported as `line` or `data`, because their names
 * could be anything.
 */
export function differingFields(planned: string, held: string): string[] {
  if (planned === held) return [];
  const { data: wantedData, ...wanted } = envelopeOf(planned);
  const { data: heldData, ...found } = envelopeOf(held);
  const ofReplay = wanted['replay'] !== undefined || found['replay'] !== undefined;
  const envelope = differing(wanted, found);
  const own = envelope.names.filter((name) => !ofReplay || (name !== 'id' && name !== 'replay'));
  const isAdded = envelope.added.some((name) => name !== 'replay');
  return [...own, ...(isAdded ? ['line'] : []), ...differingData(wantedData, heldData)];
}

function differingData(wanted: unknown, found: unknown): string[] {
  if (isDeepStrictEqual(wanted, found)) return [];
  const { names, added } = differing(fieldsOf(wanted), fieldsOf(found));
  const own = names.map((name) => `data.${name}`);
  return added.length > 0 || own.length === 0 ? [...own, 'data'] : own;
}

/** Returns the names of the wanted fields whose values differ, and those of the fields that are not wanted. */
function differing(wanted: Fields, found: Fields): { readonly names: string[]; readonly added: string[] } {
  return {
    names: Object.keys(wanted).filter(
      (name) => !Object.hasOwn(found, name) || !isDeepStrictEqual(wanted[name], found[name]),
    ),
    added: Object.keys(found).filter((name) => !Object.hasOwn(wanted, name)),
  };
}
