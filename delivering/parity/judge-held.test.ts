import type { ReadBack } from '../../sinks/sink.js';
import { type Difference, type ExpectedEntry, judgeHeld, type ReadResult, type SinkAbilities } from './judge-held.js';

const records: SinkAbilities = { isLog: false, removesHeld: true };
const log: SinkAbilities = { isLog: true, removesHeld: true };
const operation = { changeId: 'a' };
const held: ReadResult = { kind: 'held', held: 'secret of Ada' };
const missing: ReadResult = { kind: 'missing' };

function entry(wanted: Partial<ReadBack> = {}, canSend = true): ExpectedEntry {
  return {
    list: 'questions',
    key: '9',
    entry: 0,
    revision: 2,
    canSend,
    wanted: {
      change: {} as ReadBack['change'],
      expected: 'content',
      operation,
      object: null,
      removal: null,
      ...wanted,
    },
  };
}

const removed = entry({ expected: 'absence', removal: 'deleted' });
const byHand = entry({ expected: 'absence', operation: null, removal: 'erased' });
const differs = (staleBy: Difference['staleBy'] = null): Difference => ({ fields: ['email'], staleBy });

describe('the verdict on an entry', () => {
  it.each([
    ['equal content', entry(), held, null, records, 'same', null],
    ['other content', entry(), held, differs(), records, 'changed', 'send'],
    ['content of an earlier revision', entry(), held, differs('revision'), records, 'stale', 'send'],
    ['content of an earlier mapping', entry(), held, differs('mapping'), records, 'stale', 'send'],
    ['no content', entry(), missing, null, records, 'missing', 'send'],
    ['no content, which the ledger has lost too', entry({}, false), missing, null, log, 'missing', null],
    ['nothing of a removed item', removed, missing, null, records, 'same', null],
    ['what the removal leaves', removed, held, null, records, 'same', null],
    ['more than the removal leaves', removed, held, differs(), records, 'extra', 'remove'],
    ['an item that an operator removes', byHand, held, null, records, 'extra', null],
    ['no item that an operator removes', byHand, missing, null, records, 'same', null],
    ['a line of an erased person', byHand, held, null, log, 'extra', 'remove-copy'],
    ['a line in a log that cannot remove', byHand, held, null, { ...log, removesHeld: false }, 'extra', null],
    [
      'a present line of unknown content',
      entry({ expected: 'presence', operation: null }),
      held,
      null,
      log,
      'same',
      null,
    ],
  ] as const)('for %s', (_, expected, result, difference, sink, verdict, action) => {
    expect(judgeHeld(expected, result, difference, sink)).toMatchObject({ class: verdict, action });
  });

  it('keeps the cause of an item that cannot be read', () => {
    const refused: ReadResult = { kind: 'unreadable', cause: 'crm:scope', detail: 'the token lacks a scope' };
    expect(judgeHeld(entry(), refused, null, records)).toMatchObject({ class: 'unreadable', cause: 'crm:scope' });
  });

  it('contains names and ids, and nothing that the destination holds', () => {
    const changed: ReadResult = { ...held, changedBy: 'user 7', changedAt: '2026-11-21T09:30:00Z', copies: ['501'] };
    const verdict = judgeHeld(entry(), changed, differs(), records);
    expect(verdict).toMatchObject({
      changedBy: 'user 7',
      copies: ['501'],
      copyAction: 'remove-copy',
      fields: ['email'],
    });
    expect(JSON.stringify(verdict)).not.toContain('Ada');
  });
});
