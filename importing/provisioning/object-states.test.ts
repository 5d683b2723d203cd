import type { Provisioned } from './provisioned-objects.js';
import {
  type Decisions,
  decideObjectStates,
  type Sibling,
  type ObjectState,
  type Surroundings,
} from './object-states.js';
import type { Shown } from './matching.js';

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
    ['nothing like it', {}, { state: 'create', knownBefore: [] }],
    [
      'a namesake that is another',
      { shown: [shown(1, { ...opening, type: 'break' })] },
      { state: 'create', knownBefore: [1] },
    ],
    ['one like it', { shown: [shown(1)] }, { state: 'undecided', candidates: [1] }],
    ['two like it', { shown: [shown(1), shown(2)] }, { state: 'undecided', candidates: [1, 2] }],
    [
      'one like it that is another object’s',
      { shown: [shown(1)], claimed: { 1: 'autumn/opening' } },
      { state: 'create', knownBefore: [1] },
    ],
    [
      'one like it, and a person wants another',
      { shown: [shown(1)], create: ['opening'] },
      { state: 'create', knownBefore: [1] },
    ],
    [
      'one like it, and a person takes it',
      { shown: [shown(1)], use: { opening: 1 } },
      { state: 'claim', id: 1, because: 'asked' },
    ],
    [
      'one unlike it that a person takes',
      { shown: [shown(1, closing)], use: { opening: 1 } },
      { state: 'claim', id: 1, because: 'asked' },
    ],
    [
      'none that a person could take',
      { use: { opening: 1 } },
      { state: 'impossible', problem: 'the service shows none with id 1' },
    ],
    [
      'one that a person takes and that is another object’s',
      { shown: [shown(1)], use: { opening: 1 }, claimed: { 1: 'autumn/opening' } },
      { state: 'impossible', problem: '1 is already recorded for autumn/opening' },
    ],
    ['a refusal of an earlier request', { known: row({ state: 'none' }) }, { state: 'create', knownBefore: [] }],
  ])('with %s at the service', (_, scene, expected) => {
    expect(standingOf(scene)).toEqual(expected);
  });
});

describe('an object that was made', () => {
  const claimed = { 1: 'summit/opening' };
  it.each<[string, Scene, ObjectState]>([
    ['is there', { known: madeAs(1), shown: [shown(1, closing)], claimed }, { state: 'exists', id: 1 }],
    [
      'is there beside one like it',
      { known: madeAs(1), shown: [shown(1), shown(2)], claimed },
      { state: 'exists', id: 1 },
    ],
    [
      'exists, and a person wants a new one',
      { known: madeAs(1), shown: [shown(1)], claimed, create: ['opening'] },
      { state: 'exists', id: 1 },
    ],
    ['is gone', { known: madeAs(1), claimed }, { state: 'gone', id: 1 }],
    ['is gone beside one like it', { known: madeAs(1), shown: [shown(2)], claimed }, { state: 'gone', id: 1 }],
    [
      'is gone, and a person wants a new one',
      { known: madeAs(1), shown: [shown(2)], claimed, create: ['opening'] },
      { state: 'create', knownBefore: [2] },
    ],
    [
      'is to be another one',
      { known: madeAs(1), shown: [shown(1), shown(2)], claimed, use: { opening: 2 } },
      { state: 'claim', id: 2, because: 'asked' },
    ],
  ])('and %s', (_, scene, expected) => {
    expect(standingOf(scene)).toEqual(expected);
  });
});

describe('an object whose answer was lost', () => {
  it.each<[string, Scene, ObjectState]>([
    [
      'waits before the look-up',
      { known: row({ sentMsAgo: minute - 1 }), shown: [shown(1)] },
      { state: 'unknown', lookUpInMs: 1 },
    ],
    [
      'is taken by a person meanwhile',
      { known: row({ sentMsAgo: 0 }), shown: [shown(1)], use: { opening: 1 } },
      { state: 'claim', id: 1, because: 'asked' },
    ],
    ['is found', { known: row({}), shown: [shown(1), shown(2, closing)] }, { state: 'claim', id: 1, because: 'found' }],
    [
      'is found beside those from before',
      { known: row({ knownBefore: [1] }), shown: [shown(1), shown(2)] },
      { state: 'claim', id: 2, because: 'found' },
    ],
    [
      'is found beside another object’s',
      { known: row({}), shown: [shown(1), shown(2)], claimed: { 1: 'summit/words' } },
      { state: 'claim', id: 2, because: 'found' },
    ],
    [
      'is found as it was sent',
      { known: row({ sent: closing }), shown: [shown(1), shown(2, closing)] },
      { state: 'claim', id: 2, because: 'found' },
    ],
    ['is sent again when nothing is there', { known: row({}) }, { state: 'create', knownBefore: [] }],
    [
      'is sent again when only those from before are there',
      { known: row({ knownBefore: [1] }), shown: [shown(1)] },
      { state: 'create', knownBefore: [1] },
    ],
    ['may be one of two', { known: row({}), shown: [shown(1), shown(2)] }, { state: 'undecided', candidates: [1, 2] }],
    [
      'may be a new namesake that the service has changed',
      { known: row({ knownBefore: [1] }), shown: [shown(1), shown(2, { ...opening, startDate: null })] },
      { state: 'undecided', candidates: [2] },
    ],
    [
      'is sent again when a person says so',
      { known: row({}), shown: [shown(1), shown(2)], create: ['opening'] },
      { state: 'create', knownBefore: [1, 2] },
    ],
  ])('%s', (_, scene, expected) => {
    expect(standingOf(scene)).toEqual(expected);
  });
});

describe('objects of one list', () => {
  const sibling = (key: string, looks: object, known?: Provisioned): Sibling => ({ key, looks: { ...looks }, known });

  it('hold back a twin of one that may or may not have been made, and no other', () => {
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

  it('are not taken for a changed namesake when another lost one has made it', () => {
    const later = { ...opening, startDate: '2026-11-21T10:00:00Z' };
    const objectStates = decideObjectStates(
      [sibling('opening', opening, row({})), sibling('later', later, row({ object: 'later', sent: later }))],
      around({ shown: [shown(1, later)] }),
    );
    expect(objectStates.get('opening')).toEqual({ state: 'create', knownBefore: [1] });
    expect(objectStates.get('later')).toEqual({ state: 'claim', id: 1, because: 'found' });
  });
});
