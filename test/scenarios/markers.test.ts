import { kinds } from '../kit/scenario-kinds.js';
import { session } from '../kit/items.js';
import { deeds, holdsMarker, markerOf, names, people, type Person, record, shows } from '../kit/marked-people.js';
import type { Scene } from '../kit/scene.js';
import { type Item, type Stage, useStages } from '../kit/stage.js';
import { openWatchedSinks } from '../kit/watched-sinks.js';
import { useLentDatabases } from '../lend-database.js';
import { hasPostgres } from '../postgres.js';

/**
 * The promise "nothing leaks": every field of certain people carries a marker, on all nine lists, at a sink of every
 * type, with mappings that send everything they receive. Some people are hidden from the start; others consent first
 * and withdraw later. The test searches every request that a sink sends from then on, the log, Temporal's data and
 * everything in the store except items and changes.
 */
const stages = useStages();

const emptyDatabase = useLentDatabases();

describe.each(kinds)('people whose identity must be hidden, on %s', (kind) => {
  it('appear in no request to any sink, no line of the log and no row except their own', async () => {
    const stage = await stages.open(kind);
    const sinks = await openWatchedSinks(stage, hasPostgres() ? await emptyDatabase() : undefined);
    try {
      for (const id of [1, 2, 3]) await stage.put('sessions', session(id, { anonymousResponses: false }));
      await stage.put('sessions', session(4));
      await stage.put('attendees', ...names.map(record));
      for (const [index, who] of names.entries()) {
        for (const [list, item] of deeds(who, index)) await stage.put(list, item);
      }
      const scene = await stage.webhookScene(
        'consent: { accept: [obtained] }, onConsentWithdrawn: forget',
        sinks.options,
      );

      await settle(stage, scene);
      const first = sinks.taken(scene);
      expect(first.join('').length).toBeGreaterThan(5000);
      expect(shown(first)).toEqual(['withdrawing', 'anonymous', 'turning']);
      // Each sink must have received them before; otherwise the rest would prove nothing.
      const namedAt = new Set(deedsOf(first, 'withdrawing').map(sinkOf));
      expect(Object.keys(sinks.options.sinks).filter((sink) => !namedAt.has(sink))).toEqual([]);
      expect(deedsOf(first, 'anonymous')).toEqual([]);

      await stage.patch('attendees', people.withdrawing, { consent: { obtained: false } });
      await stage.patch('sessions', 3, { anonymousResponses: true });
      for (const list of ['qna-questions', 'poll-mcq-votes', 'poll-quiz-votes']) {
        const [, item] = deeds('turning', names.indexOf('turning')).find(([name]) => name === list)!;
        await stage.patch(list, Number(item['id']), { attendee: { ...(item['attendee'] as Item), anonymous: true } });
      }
      await stage.pollsAreDue();
      await scene.settle();
      const moved = sinks.taken(scene);
      expect(moved.join('').length).toBeGreaterThan(1000); // removed links, deletions and edits
      expect(moved.filter((line) => shows(line, 'withdrawing') && !isRemoval(line))).toEqual([]);
      expect(deedsOf(moved, 'turning')).toEqual([]);
      for (const [index, who] of names.entries()) {
        for (const [list, item] of deeds(who, 10 + index, true)) {
          if (list !== 'votes') await stage.put(list, item);
        }
        await stage.patch('attendees', people[who], { 'Job title': `${markerOf(who)}-changed` });
      }
      await settle(stage, scene);
      const later = sinks.taken(scene);
      expect(later.join('').length).toBeGreaterThan(2000);
      expect(shown(later).filter((who) => ['refused', 'notAsked', 'withdrawing'].includes(who))).toEqual([]);
      expect([...deedsOf(later, 'anonymous'), ...deedsOf(later, 'turning')]).toEqual([]);

      const kept = await stage.db.query<Record<string, unknown>>(
        `select (select string_agg(coalesce(reason, '') || coalesce(detail, ''), ' ') from deliveries) as deliveries,
           (select string_agg(object::text, ' ') from sink_objects) as objects,
           (select string_agg(memory::text || coalesce(failure, ''), ' ') from lanes) as lanes`,
      );
      const rest = scene.logText() + scene.historyText() + JSON.stringify(kept);
      expect(names.filter((who) => holdsMarker(rest, who))).toEqual([]);
      expect(await stage.db.query(`select reason, detail from deliveries where state = 'dead'`)).toEqual([]);
    } finally {
      await sinks.close();
    }
  });
});

const sinkOf = (line: string): string => line.slice(0, line.indexOf(' '));

function shown(lines: readonly string[]): Person[] {
  return names.filter((who) => lines.some((line) => shows(line, who)));
}

function deedsOf(lines: readonly string[], who: Person): string[] {
  return lines.filter((line) => shows(line, who) && !isOwnRecord(line));
}

/** Returns whether a line is the record of a person who consents: a contact, a lead, a row or an attendance. */
function isOwnRecord(line: string): boolean {
  switch (sinkOf(line)) {
    case 'crm':
      return line.includes('/contacts/');
    case 'salesforce':
      return line.includes('Engagement_Id__c');
    case 'dynamics':
      return line.includes('acme_code');
    case 'lms':
      return line.includes('verbs/attended');
    case 'grades':
      return line.includes(`/assignments/2/`);
    case 'warehouse':
      return line.includes('"engagement"."attendees"');
    default:
      return line.includes('"list":"attendees"');
  }
}

/** Returns whether a line contains only the key of a record to be erased. */
function isRemoval(line: string): boolean {
  if (holdsMarker(line, 'withdrawing')) return false;
  if (sinkOf(line) === 'warehouse') return line.includes('"engagement"."attendees"');
  return line.includes('"type":"attendees.deleted"') && line.includes('"data":null');
}

async function settle(stage: Stage, scene: Scene): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await stage.pollsAreDue();
    await stage.retriesAreDue();
    await scene.settle();
  }
}
