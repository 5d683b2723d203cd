import { randomUUID } from 'node:crypto';
import { kinds } from '../kit/scenario-kinds.js';
import { receiptsOf } from '../../people/erasures.js';
import { pause } from '../../ledger/pauses.js';
import { requestReplay } from '../../delivering/replays.js';
import { dumpLedger } from '../kit/dump-ledger.js';
import { askToForget, forget } from '../kit/forget.js';
import { session } from '../kit/items.js';
import { deeds, holdsMarker, markerOf, names, people, type Person, record } from '../kit/marked-people.js';
import type { Scene } from '../kit/scene.js';
import { archive, type Item, type Stage, useStages } from '../kit/stage.js';
import { openWatchedSinks } from '../kit/watched-sinks.js';

/**
 * Every field of every person contains a marker, and so do the texts of their interactions. Two people are forgotten:
 * one who acted under their name and one who acted anonymously. Their markers are then nowhere, and all others stay.
 */
const stages = useStages();
const gone: readonly Person[] = ['withdrawing', 'anonymous'];

/** Returns the interaction with the person's marker in its text. */
function said(who: Person, [list, item]: [string, Item]): [string, Item] {
  const content = `${markerOf(who)}-said`;
  const inner = { questions: 'question', answers: 'answer' }[list];
  if (list === 'qna-questions') return [list, { ...item, content }];
  return inner === undefined ? [list, item] : [list, { ...item, [inner]: { ...(item[inner] as Item), content } }];
}

describe.each(kinds)('forgotten people, on %s', (kind) => {
  it('appear in no table, file, log or history, and polls restore nothing about them', async () => {
    const stage = await stages.open(kind);
    const sinks = await openWatchedSinks(stage, undefined);
    try {
      for (const id of [1, 2, 3]) await stage.put('sessions', session(id, { anonymousResponses: false }));
      await stage.put('sessions', session(4));
      await stage.put('attendees', ...names.map(record));
      for (const [index, who] of names.entries()) {
        for (const deed of deeds(who, index)) await stage.put(...said(who, deed));
      }
      // Another person's vote repeats the text of its question.
      const theirs = 100 + names.indexOf('withdrawing');
      await stage.put('votes', {
        attendeeId: people.turning,
        createdAt: '2026-11-21T09:00:00.000Z',
        session: { id: 1, name: 'Session 1', type: 'qna' },
        question: { id: theirs, content: `${markerOf('withdrawing')}-said`, status: 'approved' },
      });
      const scene = await stage.webhookScene('consent: { accept: [obtained] }', sinks.options);
      await settle(stage, scene);
      await stage.patch('attendees', people.withdrawing, { 'Job title': `${markerOf('withdrawing')}-changed` });
      await settle(stage, scene);
      sinks.taken(scene);
      for (const who of gone) expect(holdsMarker(await dumpLedger(stage.db), who)).toBe(true);
      expect(holdsMarker(JSON.stringify(archive(scene)), 'withdrawing')).toBe(true);

      const asked = [
        ['withdrawing', { by: 'email', text: `${markerOf('withdrawing')}@EXAMPLE.com` }],
        ['anonymous', { by: 'id', text: String(people.anonymous) }],
      ] as const;
      await typeReasons(scene, 'withdrawing');
      await typeReasons(scene, 'turning');
      for (const [who, name] of asked) {
        await forget(stage, scene, await askToForget(scene, name));
        expect(sinks.taken(scene).filter((line) => holdsMarker(line, who))).toEqual([]);
      }

      await standNowhere(stage, scene);
      for (const who of gone) await stage.patch('attendees', people[who], { Name: `${markerOf(who)}-again` });
      for (const [index, who] of names.entries()) {
        for (const [list, item] of deeds(who, 10 + index))
          if (list !== 'votes') await stage.put(...said(who, [list, item]));
      }
      await stage.sweepsAreDue();
      await settle(stage, scene);
      const later = sinks.taken(scene);
      expect(later.filter((line) => gone.some((who) => holdsMarker(line, who)))).toEqual([]);
      expect(holdsMarker(later.join('\n'), 'turning')).toBe(true);
      await standNowhere(stage, scene);

      const receipts = (await receiptsOf(scene.ledger, 1)).map(({ place, outcome }) => `${place} ${outcome}`);
      // The number of messages sent to Slack by now, and so whether it had any of theirs, depends on the machine.
      expect(receipts.filter((receipt) => receipt !== 'sink:talk acme/101 erased')).toEqual([
        'imports nothing',
        'ledger erased',
        'service:acme by-hand',
        'sink:archive acme/101 erased',
        'sink:crm acme/101 erased',
        'sink:dynamics acme/101 erased',
        'sink:grades acme/101 erased',
        'sink:hooks acme/101 told',
        'sink:lms acme/101 erased',
        'sink:salesforce acme/101 erased',
      ]);
    } finally {
      await sinks.close();
    }
  });
});

async function standNowhere(stage: Stage, scene: Scene): Promise<void> {
  const dump = await dumpLedger(stage.db);
  for (const text of [dump, JSON.stringify(archive(scene)), scene.logText(), scene.historyText()]) {
    expect(gone.filter((who) => holdsMarker(text, who))).toEqual([]);
  }
  expect(holdsMarker(dump, 'turning')).toBe(true);
  const reasons = await stage.db.query<{ reason: string | null }>(
    'select detail as reason from pauses union all select reason from replays',
  );
  const kept = reasons.filter(({ reason }) => reason !== null && holdsMarker(reason, 'turning'));
  expect(kept).toHaveLength(2);
  // A reader of the database cannot see which tombstones belonged to the same person.
  const linked = await stage.db.query('select i.list, i.key from items i join forgotten f on f.subject = i.subject');
  expect(linked).toEqual([]);
}

/** Stores reasons that operators typed for a pause and a replay, which contain the name of a person. */
async function typeReasons({ ledger }: Scene, who: Person): Promise<void> {
  const reason = `asked for by ${String(record(who)['Name'])}`;
  const name = `paused-${who}`;
  const asked = { pausedBy: 'person', cause: 'asked', fingerprint: null } as const;
  await pause(ledger, { ...asked, scope: 'import', name, detail: reason });
  await requestReplay(ledger, { id: randomUUID(), lanes: [], lists: null, from: null, by: null, reason });
}

/** Delivers until Slack's limit of one message a second per channel leaves nothing waiting. */
async function settle(stage: Stage, scene: Scene): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await stage.pollsAreDue();
    await stage.retriesAreDue();
    await scene.settle();
  }
}
