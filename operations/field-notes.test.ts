import type { Config } from '../config/config.js';
import type { SeenField, SeenFields } from '../ledger/seen-fields.js';
import { Expression } from '../sinks/mapping/expression.js';
import { fieldNotes, mentionedLists, storedFieldNotes } from './field-notes.js';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../ledger/drivers/embedded.js';
import { openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';

function configWith(text: string, { from = 'attendees', ids = undefined as number[] | undefined } = {}): Config {
  const email = new Expression(text);
  email.standsAt({ line: 34, key: 'sinks.crm.records[0].properties.email' });
  return {
    syncs: {
      all: { workspace: 'acme', pigeonholes: ids === undefined ? {} : { ids }, sinks: ['crm'] },
      other: { workspace: 'umbrella', pigeonholes: {}, sinks: [] },
    },
    sinks: { crm: { type: 'hubspot', settings: { records: [{ from, properties: { email: { value: email } } }] } } },
  } as unknown as Config;
}

const field = (name: string): SeenField => {
  const [own, member] = name.split('/') as [string, string?];
  return {
    field: own,
    member: member ?? null,
    types: { [name === 'consent' ? 'object' : 'string']: 1 },
    filled: 1,
    values: null,
  };
};
const place = (pigeonholeId: number, fields: readonly string[], workspace = 'acme'): SeenFields => ({
  workspace,
  pigeonholeId,
  items: 1,
  fields: fields.map(field),
});
const notesOf = (text: string, attendees: readonly SeenFields[], more: Record<string, SeenFields[]> = {}): string[] =>
  fieldNotes(configWith(text), new Map(Object.entries({ attendees, ...more })));

describe('a note about a field that no item has', () => {
  it('names the sink, key, line, field and pigeonhole, and suggests a field', () => {
    expect(notesOf('$lowercase(item.Email)', [place(101, ['id', 'Email']), place(102, ['id', 'E-mail'])])).toEqual([
      'crm.records[0].properties.email (line 34) reads item.Email, never seen on attendees of pigeonhole acme/102; seen: "E-mail"',
    ]);
  });

  it('combines several pigeonholes', () => {
    expect(notesOf('item.Email', [place(101, ['a']), place(102, ['b']), place(103, ['a'])])).toEqual([
      'crm.records[0].properties.email (line 34) reads item.Email, never seen on attendees of pigeonhole acme/101 and 2 more; seen: "a", "b"',
    ]);
  });

  it.each<[string, string[], string]>([
    ['item.Emial', ['Email', 'Name'], '"Email"'],
    ['item.mail', ['Work e-mail', 'Name'], '"Work e-mail"'],
    ['item.Phone', ['Email', 'Name'], '"Email", "Name"'],
    ['item.consent.given', ['consent', 'consent/obtained', 'Name'], '"obtained"'],
    ['item.`Job title`', [], 'no fields'],
    ['item.x', Array.from({ length: 10 }, (_, n) => `Field ${n}`), '"Field 7" and 2 more'],
  ])('about %s lists the fields that exist in %j', (text, fields, seen) => {
    const [note] = notesOf(text, [place(101, fields)]);
    expect(note).toMatch(new RegExp(`; seen: .*${seen}$`));
  });

  it.each<[string, string[]]>([
    ['item.Email', ['Email']],
    ['attendee.Email', ['Email']],
    ['$field("E-mail", "Mail")', ['email']],
    ['item.consent.obtained', ['consent', 'consent/obtained']],
    ['item.Email.anything', ['Email']], // a text has no members, so the note does not judge the expression
    ['"text"', []],
    ['change.list', []],
    ['item', []],
  ])('is not written if %s exists in %j', (text, fields) => {
    expect(notesOf(text, [place(101, fields)])).toEqual([]);
  });

  it('is not written if nothing is stored, or nothing that the sink receives', () => {
    expect(notesOf('item.Email', [])).toEqual([]);
    expect(notesOf('item.Email', [place(101, ['a'], 'umbrella')])).toEqual([]);
    const config = configWith('item.Email', { ids: [102] });
    expect(fieldNotes(config, new Map([['attendees', [place(101, ['a'])]]]))).toEqual([]);
  });

  it('checks fields of sessions and pigeonholes in their own lists', () => {
    const sessions = { sessions: [place(101, ['name'])], pigeonholes: [place(0, ['timezone'])] };
    expect(notesOf('session.name & $eventDate(item.at)', [place(101, ['at'])], sessions)).toEqual([]);
    expect(notesOf('session.title & pigeonhole.zone', [], sessions)).toEqual([
      'crm.records[0].properties.email (line 34) reads session.title, never seen on sessions of pigeonhole acme/101; seen: "name"',
      'crm.records[0].properties.email (line 34) reads pigeonhole.zone, never seen on pigeonholes of workspace acme; seen: "timezone"',
    ]);
  });

  it('is not written if $field finds the field in the profile or in the item', () => {
    const config = configWith('$field("Email")', { from: 'votes' });
    const seen = new Map([
      ['attendees', [place(101, ['E-mail']), place(102, ['x'])]],
      ['votes', [place(101, ['y']), place(102, ['y']), place(103, ['email'])]],
    ]);
    expect(fieldNotes(config, seen)).toEqual([
      'crm.records[0].properties.email (line 34) reads $field("Email"), never seen on attendees or votes of pigeonhole acme/102; seen: "x", "y"',
    ]);
  });

  it('omits control characters from a field’s name', () => {
    expect(notesOf('item.Email', [place(101, ['\u001b[2J'])]).join('')).not.toContain('\u001b');
  });
});

describe('the lists that mappings read', () => {
  it('are each named once', () => {
    expect(mentionedLists(configWith('item.a & session.b & $field("c")', { from: 'votes' }))).toEqual([
      'sessions',
      'attendees',
      'votes',
    ]);
    expect(mentionedLists(configWith('item.a', { from: 'no-list' }))).toEqual([]);
    expect(mentionedLists({ ...configWith('1'), sinks: {} })).toEqual([]);
  });
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stored-fields-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const notesIn = (where: string): ReturnType<typeof storedFieldNotes> =>
  storedFieldNotes({
    store: { kind: 'embedded', folder: where },
    syncs: {},
    sinks: { crm: { settings: { from: 'attendees', email: new Expression('item.Email') } } },
  } as unknown as Config);

describe('field notes from the store of a stopped pigeonpost', () => {
  it('are unknown without a store, and no store is created', async () => {
    const nowhere = join(folder, 'data');
    expect(await notesIn(nowhere)).toBeUndefined();
    expect(existsSync(nowhere)).toBe(false);
  });

  it('are available if the store can be opened, but not while it is in use', async () => {
    const db = await openEmbedded({ folder });
    try {
      expect(await notesIn(folder)).toBeUndefined(); // in use
    } finally {
      await db.close();
    }
    const again = await openEmbedded({ folder });
    await openLedger(again, testKey);
    await again.close();
    expect(await notesIn(folder)).toEqual([]);
  });
});
