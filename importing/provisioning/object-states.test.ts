import type { Provisioned } from './create-object.js';
import {
  type Decisions,
  decideObjectStates,
  type Sibling,
  type ObjectState,
  type Surroundings,
  type Shown,
  isNamesake,
  isSame,
  isSimilar,
  looksLike,
  looksOf,
} from './object-states.js';

it.each<[unknown, unknown, boolean]>([
  ['Questions', 'Questions', true],
  [' Questions  and answers ', 'Questions and answers', true],
  ['Questions', 'questions', false],
  ['Cafe\u0301', 'Caf\u00e9', true],
  ['2026-11-21T08:00:00Z', '2026-11-21T09:00:00+01:00', true],
  ['2026-11-21T08:00:00Z', '2026-11-21T09:00:00Z', false],
  ['2026-11-21', '2026-11-21', true],
  [undefined, null, true],
  [undefined, '', true],
  [false, '', false],
  [true, true, true],
  [7, '7', false],
  [{ a: [1] }, { a: [1] }, true],
])('%j sent and %j shown compare as equal: %s', (sent, shown, same) => {
  expect(isSame(sent, shown)).toBe(same);
});

describe('the identity of an object', () => {
  it('is the name and days of a pigeonhole, and the name, type and start of a session', () => {
    const fields = { name: 'A', startDate: 'x', endDate: 'y', timezone: 'UTC', type: 'qna' };
    expect(looksOf('pigeonhole', fields)).toEqual({ name: 'A', startDate: 'x', endDate: 'y' });
    expect(looksOf('session', { name: 'A', type: 'break' })).toEqual({ name: 'A', type: 'break', startDate: null });
  });

  it('distinguishes two sessions with the same name and different starts', () => {
    const looks = looksOf('session', { name: 'A', type: 'qna', startDate: '2026-11-21T08:00:00Z' });
    const shown = { id: 1, name: 'a', type: 'qna', startDate: '2026-11-21T09:00:00+01:00' };
    expect([looksLike(looks, { ...shown, name: 'A' }), looksLike(looks, shown), isNamesake(looks, shown)]).toEqual([
      true,
      false,
      true,
    ]);
    expect(looksLike(looks, { ...shown, name: 'A', startDate: '2026-11-21T09:30:00+01:00' })).toBe(false);
  });
});

const minute = 60_000;
const opening = { name: 'Opening', type: 'qna', startDate: '2026-11-21T08:00:00Z' };
const closing = { ...opening, name: 'Closing' };

const row = (facts: Partial<Provisioned>): Provisioned => ({
  object: 'opening',
  parentId: 101,
  state: 'sending',
  attempt: 1,
  remoteId: null,
  sent: opening,
  knownBefore: [],
  sentMsAgo: 2 * minute,
  ...facts,
});
const madeAs = (remoteId: number): Provisioned => row({ state: 'made', remoteId });
const shown = (id: number, fields: object = opening): Shown => ({ id, ...fields });

interface Scene {
  readonly known?: Provisioned;
  readonly shown?: readonly Shown[];
  readonly claimed?: Readonly<Record<number, string>>;
  readonly use?: Decisions['use'];
  readonly create?: readonly string[];
}

function around({ shown: there = [], claimed = {}, use = {}, create = [] }: Scene): Surroundings {
  return {
    shown: there,
    claimed: new Map(Object.entries(claimed).map(([id, owner]) => [Number(id), owner])),
    event: 'summit',
    decisions: { use, create },
    lookUpAfterMs: minute,
  };
}

function standingOf(scene: Scene): ObjectState | undefined {
  return decideObjectStates([{ key: 'opening', looks: opening, known: scene.known }], around(scene)).get('opening');
}

describe('an object that the ledger does not know', () => {
  it.each<[string, Scene, ObjectState]>([
    ['no match', {}, { state: 'create', knownBefore: [] }],
    [
      'an object of the same name and another type',
      { shown: [shown(1, { ...opening, type: 'break' })] },
      { state: 'create', knownBefore: [1] },
    ],
    ['one match', { shown: [shown(1)] }, { state: 'undecided', candidates: [1] }],
    ['two matches', { shown: [shown(1), shown(2)] }, { state: 'undecided', candidates: [1, 2] }],
    [
      'a match that belongs to an object of another event',
      { shown: [shown(1)], claimed: { 1: 'autumn/opening' } },
      { state: 'undecided', candidates: [1] },
    ],
    [
      'a match that belongs to an object which the file no longer has',
      { shown: [shown(1)], claimed: { 1: 'summit/start' } },
      { state: 'undecided', candidates: [1] },
    ],
    [
      'a match with another spelling of the name',
      { shown: [shown(1, { ...opening, name: ' OPEN-ing' })] },
      { state: 'undecided', candidates: [1] },
    ],
    [
      'a selected object of the event that the file no longer has',
      { shown: [shown(1)], claimed: { 1: 'summit/start' }, use: { opening: 1 } },
      { state: 'claim', id: 1, because: 'asked', insteadOf: 'start' },
    ],
    [
      'a match, if the operator wants a new object',
      { shown: [shown(1)], create: ['opening'] },
      { state: 'create', knownBefore: [1] },
    ],
    [
      'a match that the operator selects',
      { shown: [shown(1)], use: { opening: 1 } },
      { state: 'claim', id: 1, because: 'asked' },
    ],
    [
      'a different object that the operator selects',
      { shown: [shown(1, closing)], use: { opening: 1 } },
      { state: 'claim', id: 1, because: 'asked' },
    ],
    [
      'no object with the id that the operator selects',
      { use: { opening: 1 } },
      { state: 'impossible', problem: 'the service shows none with id 1' },
    ],
    [
      'a selected object that belongs to another object',
      { shown: [shown(1)], use: { opening: 1 }, claimed: { 1: 'autumn/opening' } },
      { state: 'impossible', problem: '1 is already recorded for autumn/opening' },
    ],
    [
      'no match, after the service refused an earlier request',
      { known: row({ state: 'none' }) },
      { state: 'create', knownBefore: [] },
    ],
  ])('with %s in the service', (_, scene, expected) => {
    expect(standingOf(scene)).toEqual(expected);
  });
});

describe('an object that was created', () => {
  const claimed = { 1: 'summit/opening' };
  it.each<[string, Scene, ObjectState]>([
    ['still exists', { known: madeAs(1), shown: [shown(1, closing)], claimed }, { state: 'exists', id: 1 }],
    [
      'still exists beside a match',
      { known: madeAs(1), shown: [shown(1), shown(2)], claimed },
      { state: 'exists', id: 1 },
    ],
    [
      'still exists, although the operator wants a new one',
      { known: madeAs(1), shown: [shown(1)], claimed, create: ['opening'] },
      { state: 'exists', id: 1 },
    ],
    ['was deleted', { known: madeAs(1), claimed }, { state: 'gone', id: 1 }],
    [
      'was deleted, although there is a match',
      { known: madeAs(1), shown: [shown(2)], claimed },
      { state: 'gone', id: 1 },
    ],
    [
      'was deleted, and the operator wants a new one',
      { known: madeAs(1), shown: [shown(2)], claimed, create: ['opening'] },
      { state: 'create', knownBefore: [2] },
    ],
    [
      'is replaced by one that the operator selects',
      { known: madeAs(1), shown: [shown(1), shown(2)], claimed, use: { opening: 2 } },
      { state: 'claim', id: 2, because: 'asked' },
    ],
  ])('and %s', (_, scene, expected) => {
    expect(standingOf(scene)).toEqual(expected);
  });
});

describe('an object whose response was lost', () => {
  it.each<[string, Scene, ObjectState]>([
    [
      'waits for 1 min before the look-up',
      { known: row({ sentMsAgo: minute - 1 }), shown: [shown(1)] },
      { state: 'unknown', lookUpInMs: 1 },
    ],
    [
      'is claimed immediately if the operator selects it',
      { known: row({ sentMsAgo: 0 }), shown: [shown(1)], use: { opening: 1 } },
      { state: 'claim', id: 1, because: 'asked' },
    ],
    ['is found', { known: row({}), shown: [shown(1), shown(2, closing)] }, { state: 'claim', id: 1, because: 'found' }],
    [
      'is found beside objects that existed before the request',
      { known: row({ knownBefore: [1] }), shown: [shown(1), shown(2)] },
      { state: 'claim', id: 2, because: 'found' },
    ],
    [
      'is found beside an object that belongs to another one',
      { known: row({}), shown: [shown(1), shown(2)], claimed: { 1: 'summit/words' } },
      { state: 'claim', id: 2, because: 'found' },
    ],
    [
      'is found by the fields that were sent',
      { known: row({ sent: closing }), shown: [shown(1), shown(2, closing)] },
      { state: 'claim', id: 2, because: 'found' },
    ],
    ['is sent again if there is no match', { known: row({}) }, { state: 'create', knownBefore: [] }],
    [
      'is sent again if every match existed before the request',
      { known: row({ knownBefore: [1] }), shown: [shown(1)] },
      { state: 'create', knownBefore: [1] },
    ],
    [
      'is undecided if there are two matches',
      { known: row({}), shown: [shown(1), shown(2)] },
      { state: 'undecided', candidates: [1, 2] },
    ],
    [
      'is undecided if there is a new object of the same name that the service may have changed',
      { known: row({ knownBefore: [1] }), shown: [shown(1), shown(2, { ...opening, startDate: null })] },
      { state: 'undecided', candidates: [2] },
    ],
    [
      'is sent again if the operator wants a new one',
      { known: row({}), shown: [shown(1), shown(2)], create: ['opening'] },
      { state: 'create', knownBefore: [1, 2] },
    ],
  ])('%s', (_, scene, expected) => {
    expect(standingOf(scene)).toEqual(expected);
  });
});

describe('a similar pigeonhole', () => {
  const looks = { name: 'ACME Summit 2026', startDate: '2026-11-21', endDate: '2026-11-22' };
  it.each<[object, boolean]>([
    [{}, true],
    [{ name: 'acme  summit 2026' }, true],
    [{ name: 'ACME-Summit (2026)' }, true],
    [{ name: '\uff21\uff23\uff2d\uff25 Summit 2026' }, true],
    [{ startDate: '2026-11-22', endDate: '2026-11-24' }, true],
    [{ startDate: '2026-11-01', endDate: '2026-11-30' }, true],
    [{ startDate: '2026-11-22T00:00:00Z', endDate: null }, true],
    [{ startDate: '2026-11-23', endDate: '2026-11-24' }, false],
    [{ startDate: '2025-11-21', endDate: '2025-11-22' }, false],
    [{ name: 'ACME Summit 2027' }, false],
    [{ name: '' }, false],
  ])('is one with %j: %s', (fields, expected) => {
    expect(isSimilar(looks, shown(1, { ...looks, ...fields }))).toBe(expected);
  });

  it('has a name of the same signs if it has no letters', () => {
    const signs = { ...looks, name: '***' };
    expect([isSimilar(signs, shown(1, signs)), isSimilar(signs, shown(1, { ...signs, name: '!!!' }))]).toEqual([
      true,
      false,
    ]);
  });
});

describe('objects of one list', () => {
  const sibling = (key: string, looks: object, known?: Provisioned): Sibling => ({ key, looks: { ...looks }, known });

  it('wait if an identical object may have been created, but only then', () => {
    const lost = row({ sentMsAgo: 10_000 });
    const objectStates = decideObjectStates(
      [sibling('twin', opening), sibling('opening', opening, lost), sibling('closing', closing)],
      around({}),
    );
    expect(Object.fromEntries(objectStates)).toEqual({
      twin: { state: 'unknown', lookUpInMs: 50_000 },
      opening: { state: 'unknown', lookUpInMs: 50_000 },
      closing: { state: 'create', knownBefore: [] },
    });
  });

  it('assign a created object to its lost request even if its twin precedes it', () => {
    const objectStates = decideObjectStates(
      [sibling('twin', opening), sibling('opening', opening, row({}))],
      around({ shown: [shown(1)] }),
    );
    expect(objectStates.get('opening')).toEqual({ state: 'claim', id: 1, because: 'found' });
    expect(objectStates.get('twin')).toEqual({ state: 'create', knownBefore: [1] });
  });

  it('do not claim an object of the same name that another lost request has created', () => {
    const later = { ...opening, startDate: '2026-11-21T10:00:00Z' };
    const objectStates = decideObjectStates(
      [sibling('opening', opening, row({})), sibling('later', later, row({ object: 'later', sent: later }))],
      around({ shown: [shown(1, later)] }),
    );
    expect(objectStates.get('opening')).toEqual({ state: 'create', knownBefore: [1] });
    expect(objectStates.get('later')).toEqual({ state: 'claim', id: 1, because: 'found' });
  });
});
