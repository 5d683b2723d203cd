import { randomUUID } from 'node:crypto';
import { kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { openLedger } from '../ledger/ledger.js';
import { pigeonholeNumberOf } from '../ledger/pigeonholes.js';
import { replayReasons } from '../delivering/replays.js';
import { allDrafts, saveDraft } from '../ledger/configuration-drafts.js';
import { eraseReasons, namesPerson, namingTexts } from './erase-from-ledger.js';

const databases = useBothDatabases();

const texts = namingTexts(
  {
    asked: 'Ada@Example.com',
    places: [{ pigeonholeNumber: 1, workspace: 'acme', pigeonholeId: 101, attendeeIds: [42], codes: ['K-77'] }],
  },
  [{ id: 42, Name: 'Ada Lovelace', 'E-mail': 'ada@work.example', Company: 'Engines' }],
);

describe('a typed reason', () => {
  it.each([
    'ada@example.com asked for it',
    'as ADA@WORK.EXAMPLE wrote on Monday',
    'Lovelace is in the CRM twice',
    'attendee 42 has to be sent again',
    "code k-77's row was wrong",
    '(Ada)',
  ])('names the person: %s', (reason) => {
    expect(namesPerson(reason, texts)).toBe(true);
  });

  it.each(['Canada is sent again', '420 items were lost', 'the CRM of Engines was down', 'ada2@example.com asked'])(
    'does not name the person: %s',
    (reason) => {
      expect(namesPerson(reason, texts)).toBe(false);
    },
  );

  it('does not match a name of one letter', () => {
    expect(namesPerson('a sink was down', namingTexts({ asked: null, places: [] }, [{ Name: 'A B' }]))).toBe(false);
  });
});

describe.each(kinds)('erasing a person from what operators typed, on %s', (kind) => {
  it('replaces each text that names the person, in every table, and no other text', async () => {
    const ledger = await openLedger(databases.of(kind), testKey);
    const { db } = ledger;
    const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', 101);
    const texts = ['Lovelace asked for it', 'the hall is rebuilt'] as const;
    for (const [index, text] of texts.entries()) {
      const name = `sink-${index}`;
      await db.query(`insert into sinks (name, type) values ($1, 'file')`, [name]);
      await db.query(
        `insert into pauses (scope, name, paused_by, cause, detail) values ('sink', $1, 'person', 'asked', $2)`,
        [name, text],
      );
      await db.query(
        `insert into approvals (sink_id, destination, reason) select id, 'there', $2 from sinks where name = $1`,
        [name, text],
      );
      await db.query('insert into replays (id, reason) values ($1, $2)', [randomUUID(), text]);
      await db.query(`insert into erasures (id, asked_hash, reason) values ($1, '', $2)`, [randomUUID(), text]);
      await db.query(
        `insert into imports (id, pigeonhole_number, file, mapping, chunk_size) values ($1, $2, $3, '{}', 1)`,
        [randomUUID(), pigeonholeNumber, text],
      );
      await db.query(
        `insert into dropped_files (pigeonhole_number, content_hash, terms_hash, import, state, problem, owner,
           claimed_until)
         values ($1, $2, '', $3, 'unusable', $4, 'p', now())`,
        [pigeonholeNumber, Buffer.alloc(32, index), randomUUID(), text],
      );
    }
    for (const address of ['ada@example.com', 'grace@example.com']) {
      const body = `records: # Lovelace asked for 42\n  - when: item.Email != "${address}"\n`;
      const sink = `for ${address}`;
      await saveDraft(ledger, { sink, kind: 'mapping', body, base: '', sync: null }, { by: 'a test', replaces: null });
    }
    const person = { pigeonholeNumber, workspace: 'acme', pigeonholeId: 101, attendeeIds: [42], codes: ['K-77'] };
    await eraseReasons(ledger, { asked: 'lovelace', places: [person] }, [replayReasons]);
    await eraseReasons(ledger, { asked: 'Ada@example.com', places: [person] }, []);
    expect((await allDrafts(ledger)).map(({ sink }) => sink)).toEqual(['for grace@example.com']);

    const all = await db.query<{ place: string; texts: (string | null)[] }>(
      `select place, array_agg(text order by text) as texts from (
         select 'pauses' as place, detail as text from pauses union all select 'approvals', reason from approvals
         union all select 'replays', reason from replays union all select 'erasures', reason from erasures
         union all select 'imports', file from imports union all select 'dropped_files', problem from dropped_files
       ) t group by place order by place`,
    );
    const kept = texts[1];
    expect(all.map(({ place, texts: left }) => ({ place, left }))).toEqual([
      { place: 'approvals', left: [kept, null] },
      { place: 'dropped_files', left: ['(reason erased)', kept] },
      { place: 'erasures', left: [kept, null] },
      { place: 'imports', left: ['(name erased)', kept] },
      { place: 'pauses', left: ['(reason erased)', kept] },
      { place: 'replays', left: [kept, null] },
    ]);
  });
});
