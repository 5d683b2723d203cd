import type { Fields, Result } from '../sink.js';
import { RecordTask, TaskJob } from './record-task.js';

const step = (record: string) => ({ kind: 'save', record });
const taskOf = (object: Fields | null = null, failureEnds: 'operation' | 'entry' = 'operation') =>
  new RecordTask({ changeId: 'c-1', steps: [step('a'), step('b')], object }, { accepted: 'accepted', failureEnds });
const rejected: Result = { kind: 'rejected', cause: 'c', detail: 'refused' };
const held: Result = { kind: 'unsent', afterMs: 600_000, detail: 'the key lacks a scope' };

describe('an operation with two entries', () => {
  it('is delivered with the parts of both, and keeps the parts of entries without a step', () => {
    const task = taskOf({ other: { id: '3' } });
    task.made('a', { id: '1' });
    task.made('b', { id: '2' });
    const object = { a: { id: '1' }, b: { id: '2' }, other: { id: '3' } };
    expect(task.outcome()).toEqual({ kind: 'delivered', detail: 'accepted', object });
  });

  it('ends with the failure of one, and the other waits for the next attempt', () => {
    const task = taskOf();
    new TaskJob(task, step('a')).end({ kind: 'retry', detail: 'HTTP 503' });
    expect([task.isOpen('b'), task.steps('save')]).toEqual([false, []]);
    expect(task.outcome()).toEqual({ kind: 'retry', detail: 'HTTP 503' });
  });

  it('continues with the other entry after a failure if entries do not depend on each other', () => {
    const task = taskOf(null, 'entry');
    task.end({ kind: 'retry', detail: 'HTTP 503' }, 'a');
    expect(task.isOpen('b')).toBe(true);
    task.made('b', { id: '2' });
    expect(task.outcome()).toEqual({ kind: 'retry', detail: 'HTTP 503', object: { b: { id: '2' } } });
  });

  it('continues with the other entry if one is held back, and marks it as done for this change', () => {
    const task = taskOf();
    task.end(held, 'a');
    expect(task.isOpen('b')).toBe(true);
    task.made('b', { id: '2' });
    expect(task.outcome()).toEqual({ ...held, object: { b: { id: '2', heldAt: 'c-1' } } });
  });

  it('waits for the entry that is held back, although the other one is refused', () => {
    const task = taskOf();
    task.end(held, 'a');
    task.end(rejected, 'b');
    expect(task.outcome()).toEqual(held);
  });

  it('loses the mark once no entry is held back', () => {
    const task = taskOf({ b: { id: '2', heldAt: 'c-0' } });
    task.made('a', { id: '1' });
    expect(task.outcome().object).toEqual({ a: { id: '1' }, b: { id: '2' } });
  });

  it('has no object any more if the records of all entries are gone', () => {
    const task = taskOf({ a: { id: '1' } });
    task.made('a', null);
    expect(task.outcome().object).toBeNull();
  });
});
