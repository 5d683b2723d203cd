import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadProcessConfig } from '../../operations/load-process-config.js';
import { createSink } from '../../delivering/open-sinks.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import { laneOf } from '../sink-environment.test-kit.js';
import type { Change } from '../change.js';
import type { CheckLine, Fields, Outcome, Planned, Sink, Subject } from '../sink.js';

/** The configuration in a preset's guide as a user copies it, with the addresses and variables of a test. */
export interface Guide {
  /** The file, without its ending, from docs/sinks/http. */
  readonly page: string;
  /** Replacements in the text, such as the stand-in's address for the vendor's. */
  readonly replace?: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, string>>;
  /** Index of the YAML block, from 0. */
  readonly block?: number;
}

/** A sink as the guide configures it, with a minimal version of the delivery engine's bookkeeping. */
export class GuideSink {
  readonly #objects = new Map<string, Fields | null>();

  constructor(readonly sink: Sink) {}

  static async open({ page, replace = {}, variables, block = 0 }: Guide): Promise<GuideSink> {
    const text = readFileSync(join(__dirname, `../../docs/sinks/http/${page}.md`), 'utf8');
    const blocks = [...text.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, found]) => found!);
    let sinks = blocks[block]!;
    for (const [from, to] of Object.entries(replace)) {
      if (!sinks.includes(from)) throw new Error(`${page}.md no longer has ${from}`);
      sinks = sinks.replaceAll(from, to);
    }
    const name = /^ {2}([\w-]+):$/m.exec(sinks)![1]!;
    const head = `workspaces: { acme: { baseUrl: https://api.example.com, apiKey: "\${KEY}" } }
syncs: { events: { workspace: acme, sinks: [${name}] } }
`;
    const folder = mkdtempSync(join(tmpdir(), 'guide-'));
    try {
      writeFileSync(join(folder, 'pigeonpost.yaml'), head + sinks);
      const config = await loadProcessConfig(join(folder, 'pigeonpost.yaml'), { KEY: 'a-key', ...variables });
      return new GuideSink(createSink(config, name));
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  async plan(subjects: readonly Subject[]): Promise<Planned[]> {
    return await this.sink.plan(subjects.map((subject) => ({ ...subject, object: this.objectOf(subject.change) })));
  }

  /**
   * Plans and sends until nothing is unsent, and returns the outcomes in the order of the subjects. Rejected changes
   * and retries are not repeated.
   */
  async deliver(subjects: readonly Subject[]): Promise<(Outcome | Exclude<Planned, { kind: 'send' }>)[]> {
    const settled = new Map<Subject, Outcome | Exclude<Planned, { kind: 'send' }>>();
    for (let round = 0; settled.size < subjects.length; round += 1) {
      if (round === 10) throw new Error(`${subjects.length - settled.size} are still unsent`);
      const open = subjects.filter((subject) => !settled.has(subject));
      const planned = await this.plan(open);
      const sent = open.filter((_, at) => planned[at]!.kind === 'send');
      const operations = planned.flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
      const { outcomes } = await this.sink.send(operations, laneOf(), new AbortController().signal);
      open.forEach((subject, at) => {
        const found = planned[at]!;
        if (found.kind !== 'send') settled.set(subject, found);
      });
      sent.forEach((subject, at) => {
        const outcome = outcomes[at]!;
        if (outcome.object !== undefined) this.#objects.set(keyOf(subject.change), outcome.object);
        if (outcome.kind !== 'unsent') settled.set(subject, outcome);
      });
    }
    return subjects.map((subject) => settled.get(subject)!);
  }

  objectOf(change: Change): Fields | null {
    return this.#objects.get(keyOf(change)) ?? null;
  }

  async check(): Promise<CheckLine[]> {
    return await this.sink.check(new AbortController().signal);
  }

  async close(): Promise<void> {
    await this.sink.close();
  }
}

function keyOf({ list, key }: Change): string {
  return `${list} ${key}`;
}

/** Returns a question of the audience with its session and the person who asked it. */
export function question(
  key: string,
  content: string | null,
  around: Partial<Subject> = {},
  status: unknown = 'allowed',
): Subject {
  const data = content === null ? null : { id: Number(key), content, status };
  const change = sampleChange({
    id: `change-${key}`,
    list: 'qna-questions',
    key,
    data,
    timestamp: '2026-11-21T09:30:00.000Z',
  });
  const session = { id: 5001, name: 'Keynote' };
  const pigeonhole = { id: 101, name: 'Summit', timezone: 'Europe/Berlin' };
  const attendee = { id: 4711, Name: 'Ann Ray', Email: 'Ann@Example.com', attendeeCode: '00123' };
  return subjectOf(change, { session, pigeonhole, attendee, ...around });
}

/** Returns a change of a person's own record. Each revision has its own id. */
export function attendee(
  key: string,
  data: Fields | null,
  { revision = 1, ...around }: Partial<Subject> & { readonly revision?: number } = {},
): Subject {
  const change = sampleChange({
    id: `change-${key}-${revision}`,
    type: `attendees.${data === null ? 'deleted' : 'updated'}`,
    list: 'attendees',
    key,
    revision,
    data,
    timestamp: '2026-11-21T09:30:00.000Z',
  });
  const pigeonhole = { id: 101, name: 'Summit', timezone: 'Europe/Berlin' };
  return subjectOf(change, { pigeonhole, attendee: data, ...around });
}

/** Returns a change of an attendee's `engagement`. */
export function engagement(key: string, data: Fields | null, around: Partial<Subject> = {}): Subject {
  const change = sampleChange({ id: `credit-${key}`, type: 'engagement.updated', list: 'engagement', key, data });
  return subjectOf(change, { attendee: { id: 4711, Email: 'ann@example.com' }, ...around });
}

export const kinds = (found: readonly { readonly kind: string }[]): string[] => found.map(({ kind }) => kind);
