import type { Status } from '../../operations/status-view.js';
import { type ComparedRow, compareCounts } from './compare-counts.js';
import { compareContacts, type TrueAttendee } from './compare-contacts.js';
import { compareMessages, type TrueQuestion } from './compare-messages.js';
import { countArchive } from './count-archive.js';
import { demoNames } from './demo-config.js';
import { hubSpotState } from './hubspot-state.js';
import { receiverSummary, receivingProblems } from './receiver-summary.js';
import { countTruth, readTruth, sandboxState } from './sandbox-state.js';
import { slackState } from './slack-state.js';

export interface Comparison {
  readonly rows: readonly ComparedRow[];
  /** What a destination has and should not, or should have otherwise; a sentence each that names the destination. */
  readonly problems: readonly string[];
}

/** Where the two ends can be looked at. */
export interface Ends {
  readonly sandboxUrl: string;
  readonly receiverUrl: string;
  readonly hubSpotUrl: string;
  readonly slackUrl: string;
  readonly archive: string;
}

/**
 * Counts everything at both ends, without asking pigeonpost: the items of the source in the sandbox's truth, what was
 * delivered in the file sink's lines, in the receiver's own records, and in what the stand-ins for HubSpot and Slack
 * hold. Only what was withheld has no other witness than the ledger.
 * @param status with counts
 */
export async function compareEverything(at: Ends, status: Status): Promise<Comparison> {
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
    // Registrants cannot be read through the service, and so nothing can deliver them.
    for (const list of Object.keys(lists).filter((name) => name !== 'registrants')) {
      counts.set(list, (counts.get(list) ?? 0) + (await countTruth(sandboxUrl, list, id)));
    }
  }
  return counts;
}

function withheldCounts({ counts }: Status): Map<string, Map<string, number>> {
  const withheld = new Map<string, Map<string, number>>();
  for (const { sink, list, state, items } of counts?.deliveries ?? []) {
    if (state !== 'withheld') continue;
    const lists = withheld.get(sink) ?? new Map<string, number>();
    withheld.set(sink, lists.set(list, (lists.get(list) ?? 0) + items));
  }
  return withheld;
}
