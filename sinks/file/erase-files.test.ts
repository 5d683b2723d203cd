import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Change, type ErasedItems, rewriteLine } from '../change.js';
import { sampleChange } from '../sample-change.test-kit.js';
import { operationsFor } from '../plan-of.test-kit.js';
import { createFileSink } from './file.js';
import { type FileAccess, nodeFileAccess } from './file-access.js';
import { environmentOf, laneOf } from '../sink-environment.test-kit.js';

const QUESTIONS = 'acme/101/questions/2026-11-21.ndjson';
const VOTES = 'acme/101/votes/2026-11-21.ndjson';
const live = new AbortController().signal;
const erased: ErasedItems = { keys: new Map([['questions', new Set(['9001'])]]), questions: new Set([9001]) };

let base: string;
let memory: Record<string, unknown>;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'file-sink-'));
  memory = {};
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** A lane whose memory is committed immediately and outlives its holder. */
const lane = () => laneOf(memory);

const sinkWith = (access?: FileAccess) =>
  createFileSink({ folder: 'archive' }, environmentOf('archive', { baseFolder: base }), access);

const changeOf = (list: string, key: string, fields: Partial<Change> = {}): Change =>
  sampleChange({ list, type: `${list}.created`, key, ...fields });

const theirs = changeOf('questions', '9001', { id: 'a', sequence: 1, data: { content: 'MARK' } });
const others = changeOf('questions', '9002', { id: 'b', sequence: 2, data: { content: 'kept' } });
const vote = changeOf('votes', 'v', { id: 'c', sequence: 3, data: { question: { content: 'MARK', id: 9001 } } });
const gone = changeOf('questions', '9001', { id: 'd', sequence: 4, type: 'questions.deleted', data: null });

async function write(): Promise<void> {
  const sink = sinkWith();
  const result = await sink.send(await operationsFor(sink, [theirs, others, vote, gone]), lane(), live);
  Object.assign(memory, result.memory);
}

const idsIn = (path: string): string[] =>
  readFileSync(join(base, 'archive', path), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as Change).id);

describe('files of a forgotten person', () => {
  it('stay as empty files if they contain nothing else, and receive lines again', async () => {
    const sink = sinkWith();
    const result = await sink.send(await operationsFor(sink, [theirs]), lane(), live);
    Object.assign(memory, result.memory);
    expect(await sinkWith().erase!(erased, lane(), live)).toEqual({ kind: 'erased', count: 1, missing: 0 });
    expect(readFileSync(join(base, 'archive', QUESTIONS), 'utf8')).toBe('');
    expect(existsSync(join(base, 'archive', `${QUESTIONS}.erasing`))).toBe(false);

    const again = await sinkWith().send(await operationsFor(sink, [others]), lane(), live);
    expect(again.outcomes).toEqual([{ kind: 'delivered' }]);
    expect(idsIn(QUESTIONS)).toEqual(['b']);
  });

  it('keep every other line, including the deletion of the item', async () => {
    await write();
    expect(await sinkWith().erase!(erased, lane(), live)).toEqual({ kind: 'erased', count: 2, missing: 0 });
    expect(idsIn(QUESTIONS)).toEqual(['b', 'd']);
    expect(readFileSync(join(base, 'archive', VOTES), 'utf8')).not.toContain('MARK');
    expect(await sinkWith().erase!(erased, lane(), live)).toEqual({ kind: 'erased', count: 0, missing: 0 });
    const sink = sinkWith();
    const next = await sink.send(await operationsFor(sink, [{ ...others, id: 'e', sequence: 5 }]), lane(), live);
    expect(next.outcomes).toEqual([{ kind: 'delivered' }]);
    expect(idsIn(QUESTIONS)).toEqual(['b', 'd', 'e']);
  });

  it.each(['rename', 'open'] as const)(
    'are rewritten by the next attempt after the process ended at %s',
    async (call) => {
      await write();
      const dying: FileAccess = {
        ...nodeFileAccess,
        [call]: async (...args: never[]) => {
          if (String(args[0]).endsWith('.erasing')) throw Object.assign(new Error('ended'), { code: 'EIO' });
          return await (nodeFileAccess[call] as (...all: never[]) => Promise<unknown>)(...args);
        },
      } as FileAccess;
      expect(await sinkWith(dying).erase!(erased, lane(), live)).toMatchObject({ kind: 'retry' });
      const sink = sinkWith();
      await sink.recover!([], lane(), live);
      const next = await sink.send(await operationsFor(sink, [{ ...others, id: 'e', sequence: 5 }]), lane(), live);
      expect(next.outcomes).toEqual([{ kind: 'delivered' }]);
      Object.assign(memory, next.memory);
      expect((await sink.erase!(erased, lane(), live)).kind).toBe('erased');
      expect(idsIn(QUESTIONS)).toEqual(['b', 'd', 'e']);
      expect(readFileSync(join(base, 'archive', VOTES), 'utf8')).not.toContain('MARK');
      for (const path of [QUESTIONS, VOTES]) expect(existsSync(join(base, 'archive', `${path}.erasing`))).toBe(false);
    },
  );

  it('can be written and erased after a person removed an empty file with its folders', async () => {
    const sink = sinkWith();
    const result = await sink.send(await operationsFor(sink, [theirs]), lane(), live);
    Object.assign(memory, result.memory, { [QUESTIONS]: 0, erasing: QUESTIONS });
    rmSync(join(base, 'archive', 'acme'), { recursive: true });
    const next = sinkWith();
    await next.recover!([], lane(), live);
    expect(memory).toMatchObject({ erasing: null });
    const sent = await next.send(await operationsFor(next, [others]), lane(), live);
    expect(sent.outcomes).toEqual([{ kind: 'delivered' }]);
    Object.assign(memory, sent.memory);
    expect(await next.erase!(erased, lane(), live)).toEqual({ kind: 'erased', count: 0, missing: 0 });
    expect(idsIn(QUESTIONS)).toEqual(['b']);
  });

  it('are counted as missing if they are not where they were written', async () => {
    await write();
    rmSync(join(base, 'archive', QUESTIONS));
    expect(await sinkWith().erase!(erased, lane(), live)).toEqual({ kind: 'erased', count: 1, missing: 1 });
  });

  it('pause the sink if another program truncated them', async () => {
    await write();
    writeFileSync(join(base, 'archive', QUESTIONS), 'x\n');
    expect(await sinkWith().erase!(erased, lane(), live)).toMatchObject({ kind: 'pause', cause: 'destination' });
  });
});

describe('a line of a file', () => {
  it.each<[string, object, string, boolean]>([
    ['of another person stays', others, 'questions', true],
    [
      'of another list with the same key stays',
      { ...theirs, list: 'answers', type: 'answers.created' },
      'answers',
      true,
    ],
    ['about the deletion of the item stays', gone, 'questions', true],
    ['of the forgotten person is removed', theirs, 'questions', false],
  ])('%s', (_, change, list, stays) => {
    const line = JSON.stringify({ ...change, key: (change as Change).key });
    expect(rewriteLine(line, list, { ...erased, questions: new Set() })).toBe(stays ? line : null);
  });
});
