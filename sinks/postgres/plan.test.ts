import type { OnForget } from '../sink.js';
import { listNames } from '../../base/lists.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import { columnValue, planRow, isStorable, storableJson } from './plan.js';
import { tableOf, tables, type ColumnType } from './tables.js';

const operationOf = (
  ...[change, onForget = 'clear-our-fields', around]: [Parameters<typeof subjectOf>[0], OnForget?, object?]
) => {
  const planned = planRow(subjectOf(change, around), onForget);
  if (planned.kind !== 'send') throw new Error(`nothing is sent: ${JSON.stringify(planned)}`);
  return planned.operation;
};

describe('the tables', () => {
  it('are one for each list', () => expect([...tableOf.keys()].sort()).toEqual([...listNames].sort()));

  it('have columns with unique names, one of which identifies the person', () => {
    for (const { columns, person } of tables) {
      const names = columns.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      if (person !== undefined) expect(names).toContain(person);
    }
  });

  it('treat attendees and their texts as personal', () => {
    const personal = tables.flatMap(({ name, columns }) =>
      columns.filter((column) => column.personal).map((column) => `${name}.${column.name}`),
    );
    for (const name of [
      'questions.attendee_id',
      'questions.question_content',
      'attendees.profile',
      'answers.answer_content',
    ])
      expect(personal).toContain(name);
    for (const { name, columns } of tables)
      for (const column of columns)
        if (/attendee_(id|code)/.test(column.name) && name !== 'pigeonholes')
          expect([`${name}.${column.name}`, column.personal]).toEqual([
            `${name}.${column.name}`,
            column.name !== 'attendee_code_required',
          ]);
  });
});

describe('a row', () => {
  it('has its columns by path, its session from the envelope, and the whole item', () => {
    const data = {
      attendeeId: 7,
      createdAt: '2026-11-21T09:30:00Z',
      session: { id: 5001, name: 'Opening' },
      question: { id: 9001, content: 'When is lunch?', status: 'approved' },
      mood: 'new field',
    };
    expect(operationOf(sampleChange({ data })).row).toEqual({
      workspace: 'acme',
      pigeonhole_id: 101,
      key: '9001',
      revision: 1,
      sequence: 1234,
      found_at: '2026-11-21T09:30:00.000Z',
      question_id: 9001,
      question_content: 'When is lunch?',
      question_status: 'approved',
      session_id: 5001,
      attendee_id: 7,
      created_at: '2026-11-21T09:30:00.000Z',
      anonymous: false,
      raw: data,
    });
  });

  it('of an item without a person is anonymous, except in lists without people', () => {
    const question = sampleChange({ list: 'qna-questions', data: { id: 1, attendee: { anonymous: true } } });
    expect(operationOf(question).row).toMatchObject({
      anonymous: true,
      attendee_id: null,
      attendee_code: null,
    });
    expect(operationOf(sampleChange({ list: 'sessions', data: { id: 1 } })).row).toMatchObject({ anonymous: null });
  });

  it('of an attendee contains the profile fields in one column', () => {
    const data = {
      id: 7,
      attendeeCode: 'A7',
      consent: { obtained: true },
      Email: 'e',
      'Job title': 'j',
      toString: 'x',
    };
    const { row } = operationOf(sampleChange({ list: 'attendees', data }));
    expect(row).toMatchObject({
      id: 7,
      consent_obtained: true,
      profile: { Email: 'e', 'Job title': 'j', toString: 'x' },
    });
    expect(row['profile']).not.toHaveProperty('consent');
  });
});

describe('a removal', () => {
  const change = sampleChange({ type: 'questions.deleted', revision: 2, data: null });

  it('of an item is a tombstone that keeps the session', () => {
    expect(operationOf(change)).toMatchObject({
      write: 'tombstone',
      row: { deleted_at: change.timestamp, session_id: 5001, revision: 2 },
    });
  });

  it('because of consent follows onForget', () => {
    const withdrawn = { removal: 'consent-withdrawn' };
    expect(operationOf(change, undefined, withdrawn)).toMatchObject({ write: 'clear' });
    expect(operationOf(change, 'delete', withdrawn)).toMatchObject({ write: 'remove' });
    expect(planRow(subjectOf(change, { removal: 'consent-withdrawn' }), 'manual')).toEqual({
      kind: 'nothing',
      reason: 'forget-by-hand',
    });
  });
});

describe('an item', () => {
  it('of a list without a table needs nothing', () => {
    expect(planRow(subjectOf(sampleChange({ list: 'speakers' })), 'clear-our-fields')).toEqual({
      kind: 'nothing',
      reason: 'no-table',
    });
  });

  it('whose key PostgreSQL cannot store becomes a dead letter, because two such keys must not become equal', () => {
    expect(planRow(subjectOf(sampleChange({ key: 'a\0' })), 'clear-our-fields')).toMatchObject({
      kind: 'unplannable',
      cause: 'key-not-storable',
    });
  });
});

describe('JSON for PostgreSQL', () => {
  it.each([
    ['plain "text" \\ with / everything\n\t', 'plain "text" \\ with / everything\n\t'],
    ['a\0b', 'a\ufffdb'],
    ['\\u0000 as it is written', '\\u0000 as it is written'],
    ['\\\0', '\\\ufffd'],
    ['half a pair: \ud83c', 'half a pair: \ufffd'],
    ['the other half: \udf88', 'the other half: \ufffd'],
    ['a whole pair: 🎈', 'a whole pair: 🎈'],
  ])('converts %j to %j', (text, expected) => {
    expect(JSON.parse(storableJson({ [text]: text }))).toEqual({ [expected]: expected });
  });
});

describe('a key', () => {
  it.each([
    ['9001', true],
    ['🎈#2', true],
    ['a\0', false],
    ['\ud83c', false],
  ])('%j can be stored: %s', (key, storable) => expect(isStorable(key)).toBe(storable));
});

describe('the value of a column', () => {
  it.each<[ColumnType, unknown, unknown]>([
    ['bigint', 9001, 9001],
    ['bigint', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ['boolean', false, false],
    ['text', '', ''],
    ['timestamp with time zone', '2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
    ['timestamp with time zone', '2026-11-21T09:30:00.123+0900', '2026-11-21T00:30:00.123Z'],
    ['date', '2024-02-29', '2024-02-29'],
    ['jsonb', { url: 'x' }, { url: 'x' }],
  ])('of type %s for %j is %j', (type, value, expected) => expect(columnValue(type, value)).toEqual(expected));

  it.each<[ColumnType, unknown]>([
    ['bigint', '9001'],
    ['bigint', 1.5],
    ['bigint', 2 ** 60],
    ['boolean', 'false'],
    ['text', 7],
    ['timestamp with time zone', '2026-11-21T09:30:00'], // means another instant on each server
    ['timestamp with time zone', '0000-01-01T00:00:00Z'],
    ['timestamp with time zone', '2026-13-01T00:00:00Z'],
    ['timestamp with time zone', 1_764_000_000],
    ['date', '2026-02-30'],
    ['date', '2026-11-21T00:00:00Z'],
    ['jsonb', undefined],
    ['text', undefined],
  ])('of type %s is null for %j, which only the raw column keeps', (type, value) => {
    expect(columnValue(type, value)).toBeNull();
  });
});
