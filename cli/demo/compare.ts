import type { Status } from '../../operations/status-view.js';
import { grouped } from '../../base/words.js';
import { compareContacts, type TrueAttendee, compareMessages, type TrueQuestion } from './compare-sinks.js';
import { demoNames } from './demo-folder.js';
import type { Surroundings } from './demo-processes.js';
import {
  hubSpotState,
  countTruth,
  readTruth,
  sandboxState,
  slackState,
  receiverSummary,
  receivingProblems,
} from './stand-in-state.js';
import type { Output } from '../output.js';
import { tableLines } from '../text-line.js';
import { ExitCode } from '../exit-code.js';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonLines } from '../../base/json-lines.js';

/** One list at one sink: number of items in the source, delivered and withheld. */
interface ComparedRow {
  readonly list: string;
  readonly sink: string;
  readonly source: number;
  readonly delivered: number;
  readonly withheld: number;
}

interface CountsToCompare {
  /** By list. */
  readonly source: ReadonlyMap<string, number>;
  /** By sink, then by list, as counted at the destination. */
  readonly delivered: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** By sink, then by list, from the ledger. */
  readonly withheld: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The lists of sinks that do not accept all lists. */
  readonly lists?: ReadonlyMap<string, readonly string[]>;
}

/** Returns a row for each list at each sink that accepts it, and for lists that only a destination has. Pure. */
export function compareCounts({ source, delivered, withheld, lists: own }: CountsToCompare): ComparedRow[] {
  const takes = (sink: string, list: string): boolean => own?.get(sink)?.includes(list) ?? true;
  const lists = new Set([...source.keys(), ...[...delivered.values()].flatMap((counts) => [...counts.keys()])]);
  return [...lists].flatMap((list) =>
    [...delivered.keys()]
      .filter((sink) => takes(sink, list))
      .map((sink) => ({
        list,
        sink,
        source: source.get(list) ?? 0,
        delivered: delivered.get(sink)?.get(list) ?? 0,
        withheld: withheld.get(sink)?.get(list) ?? 0,
      })),
  );
}

export function agrees({ source, delivered, withheld }: ComparedRow): boolean {
  return source === delivered + withheld;
}

/** Formats the rows as a table. Pure. */
export function formatComparison(rows: readonly ComparedRow[]): string[] {
  const head = ['list', 'sink', 'source', '=', 'delivered', '+', 'withheld', ''];
  const cells = rows.map((row) => [
    row.list,
    row.sink,
    grouped(row.source),
    '=',
    grouped(row.delivered),
    '+',
    grouped(row.withheld),
    agrees(row) ? 'agrees' : `DIFFERS by ${grouped(row.delivered + row.withheld - row.source)}`,
  ]);
  return tableLines([head, ...cells], [2, 4, 6]);
}

interface Comparison {
  readonly rows: readonly ComparedRow[];
  /** Unexpected or wrong records of a destination, one sentence each. */
  readonly problems: readonly string[];
}

/**
 * Counts items at both ends without pigeonpost: in the sandbox, in the lines of the file sink, in the records of the
 * webhook receiver, and in the stand-ins for HubSpot and Slack. Only the number of withheld items comes from the
 * ledger.
 * @param status the status with counts
 */
export async function compareEverything(
  at: Surroundings & { readonly archive: string },
  status: Status,
): Promise<Comparison> {
  const summary = await receiverSummary(at.receiverUrl);
  const received = Object.entries(summary.lists).map(([list, { items }]) => [list, items] as const);
  const { attendees, questions } = await readPeopleAndQuestions(at.sandboxUrl);
  const contacts = compareContacts(attendees, await hubSpotState(at.hubSpotUrl));
  const messages = compareMessages(questions, attendees, await slackState(at.slackUrl));
  return {
    rows: compareCounts({
      source: await countSource(at.sandboxUrl),
      delivered: new Map<string, ReadonlyMap<string, number>>([
        [demoNames.fileSink, await countArchive(at.archive)],
        [demoNames.webhookSink, new Map(received)],
        [demoNames.crmSink, new Map([['attendees', contacts.delivered]])],
        [demoNames.slackSink, new Map([['qna-questions', messages.delivered]])],
      ]),
      withheld: withheldCounts(status),
      lists: new Map([
        [demoNames.crmSink, ['attendees']],
        [demoNames.slackSink, ['qna-questions']],
      ]),
    }),
    problems: [
      ...receivingProblems(summary).map((problem) => `at the webhook receiver: ${problem}`),
      ...contacts.problems.map((problem) => `in the stand-in for HubSpot: ${problem}`),
      ...messages.problems.map((problem) => `in the stand-in for Slack: ${problem}`),
    ],
  };
}

async function readPeopleAndQuestions(
  sandboxUrl: string,
): Promise<{ attendees: (TrueAttendee & { id: number })[]; questions: TrueQuestion[] }> {
  const { pigeonholes } = await sandboxState(sandboxUrl);
  const attendees: (TrueAttendee & { id: number })[] = [];
  const questions: TrueQuestion[] = [];
  for (const { id: pigeonholeId } of pigeonholes) {
    const people = await readTruth<TrueAttendee & { id: number }>(sandboxUrl, 'attendees', pigeonholeId);
    for (const person of people) attendees.push({ ...person, pigeonholeId });
    questions.push(...(await readTruth<TrueQuestion>(sandboxUrl, 'qna-questions', pigeonholeId)));
  }
  return { attendees, questions };
}

async function countSource(sandboxUrl: string): Promise<Map<string, number>> {
  const { pigeonholes } = await sandboxState(sandboxUrl);
  const counts = new Map<string, number>();
  for (const list of ['pigeonholes', 'subscriptions']) counts.set(list, await countTruth(sandboxUrl, list, null));
  for (const { id, counts: lists } of pigeonholes) {
    // Registrants are left out: the service has no API to read them, so they cannot be delivered.
    for (const list of Object.keys(lists).filter((name) => name !== 'registrants')) {
      counts.set(list, (counts.get(list) ?? 0) + (await countTruth(sandboxUrl, list, id)));
    }
  }
  return counts;
}

function withheldCounts({ counts }: Status): Map<string, Map<string, number>> {
  const withheld = new Map<string, Map<string, number>>();
  for (const { sink, list, state, changes } of counts?.deliveries ?? []) {
    if (state !== 'withheld') continue;
    const lists = withheld.get(sink) ?? new Map<string, number>();
    withheld.set(sink, lists.set(list, (lists.get(list) ?? 0) + changes));
  }
  return withheld;
}

/** Prints the table and its result. @returns Done if every row agrees and there are no other problems, else Failed */
export function reportComparison({ rows, problems }: Comparison, out: Pick<Output, 'line' | 'note'>): ExitCode {
  for (const line of formatComparison(rows)) out.line(line);
  const wrong = rows.filter((row) => !agrees(row));
  for (const { list, sink, source, delivered, withheld } of wrong) {
    out.note(
      `${list} at ${sink}: the source has ${source}, but ${delivered} delivered + ${withheld} withheld = ${delivered + withheld}`,
    );
  }
  for (const problem of problems) out.note(problem);
  if (wrong.length + problems.length > 0) return ExitCode.Failed;
  out.line(`source = delivered + withheld in all ${rows.length} rows`);
  return ExitCode.Done;
}

interface ArchivedChange {
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly data: unknown;
}

/**
 * Counts the items in a file sink's folder by list, from its lines only. An item counts once for all its revisions, and
 * not at all if the last one is a deletion.
 * @throws {SyntaxError} for a line that is not JSON, such as a partial write
 */
export async function countArchive(folder: string): Promise<Map<string, number>> {
  const latest = new Map<string, { list: string; revision: number; exists: boolean }>();
  for (const file of await ndjsonFiles(folder)) {
    for await (const line of jsonLines(createReadStream(file))) {
      const { pigeonholeId, list, key, revision, data } = JSON.parse(line) as ArchivedChange;
      const item = JSON.stringify([pigeonholeId, list, key]);
      if ((latest.get(item)?.revision ?? 0) <= revision) latest.set(item, { list, revision, exists: data !== null });
    }
  }
  const counts = new Map<string, number>();
  for (const { list, exists } of latest.values()) if (exists) counts.set(list, (counts.get(list) ?? 0) + 1);
  return counts;
}

async function ndjsonFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ndjson'))
    .map((entry) => join(entry.parentPath, entry.name));
}
