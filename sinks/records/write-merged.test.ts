import type { Result } from '../sink.js';
import type { PresentValues, ValueWrite } from './decide-values.js';
import type { WriteReply } from './reply.js';
import { type Draft, type Group, type MergeVendor, type WriteJob, writeMerged } from './write-merged.js';

class TestJob implements WriteJob {
  result: Result | undefined;
  written: readonly string[] | undefined;

  constructor(
    readonly writes: Readonly<Record<string, string | null>>,
    readonly policy: ValueWrite['policy'] = 'always',
    readonly happenedAtMs = 0,
  ) {}

  get isOpen(): boolean {
    return this.result === undefined;
  }

  end(result: Result): void {
    this.result ??= result;
  }
}

type TestDraft = Draft<TestJob, Group<TestJob>>;

/** A vendor with one record. It refuses every write that contains the value `bad`. */
class TestVendor implements MergeVendor<TestJob, Group<TestJob>> {
  readonly rules = {};
  readonly requests: object[] = [];
  readonly mayExist: TestJob[] = [];

  constructor(
    private readonly present: PresentValues | null = new Map(),
    private readonly reply?: WriteReply,
  ) {}

  writesOf({ writes, policy }: TestJob): ValueWrite[] {
    return Object.entries(writes).map(([name, value]) => ({ name, value, policy }));
  }

  presentOf(): PresentValues | null {
    return this.present;
  }

  write(drafts: readonly TestDraft[]): Promise<WriteReply[]> {
    return Promise.resolve(
      drafts.map(({ values }): WriteReply => {
        this.requests.push(Object.fromEntries(values));
        if (this.reply !== undefined) return this.reply;
        return [...values.values()].includes('bad')
          ? { kind: 'refused', result: { kind: 'rejected', cause: 'bad', detail: 'refused' } }
          : { kind: 'written', id: '7', isNew: false, atMs: 1 };
      }),
    );
  }

  wrote({ members, valuesOf }: TestDraft): void {
    for (const job of members) job.written = [...valuesOf(job).keys()];
  }

  unanswered({ members }: TestDraft): void {
    this.mayExist.push(...members);
  }
}

const group = (...members: TestJob[]): Group<TestJob> => ({ id: '7', members });
const newGroup = (...members: TestJob[]): Group<TestJob> => ({ id: null, members });

describe('the items of one record', () => {
  it('become one write, in which the later value wins', async () => {
    const vendor = new TestVendor();
    const jobs = [new TestJob({ a: '1', b: '1' }), new TestJob({ a: '2' })];
    expect(await writeMerged([group(...jobs)], vendor)).toEqual([]);
    expect(vendor.requests).toEqual([{ a: '2', b: '1' }]);
    expect(jobs.map(({ written }) => written)).toEqual([['a', 'b'], ['a']]);
  });

  it('fill an empty field only once with "if-empty", and keep the value of the later event with "if-newer"', async () => {
    const vendor = new TestVendor(new Map([['a', { value: '', happenedAtMs: 0 }]]));
    await writeMerged([group(new TestJob({ a: '1' }, 'if-empty'), new TestJob({ a: '2' }, 'if-empty'))], vendor);
    await writeMerged([group(new TestJob({ a: '1' }, 'if-newer', 9), new TestJob({ a: '2' }, 'if-newer', 8))], vendor);
    expect(vendor.requests).toEqual([{ a: '1' }, { a: '1' }]);
  });

  it('clear no field for which another one has a value', async () => {
    const vendor = new TestVendor();
    await writeMerged([group(new TestJob({ a: '1' }), new TestJob({ a: null }))], vendor);
    expect(vendor.requests).toEqual([{ a: '1' }]);
  });

  it('are written one at a time if the vendor refuses the merged write', async () => {
    const vendor = new TestVendor(new Map([['b', { value: '', happenedAtMs: 0 }]]));
    const jobs = [
      new TestJob({ a: 'bad', b: '1' }, 'if-empty'),
      new TestJob({ b: '2' }, 'if-empty'),
      new TestJob({ b: '3' }, 'if-empty'),
    ];
    await writeMerged([group(...jobs)], vendor);
    expect(vendor.requests).toEqual([{ a: 'bad', b: '1' }, { a: 'bad', b: '1' }, { b: '2' }]);
    expect(jobs.map(({ result, written }) => [result?.kind, written])).toEqual([
      ['rejected', undefined],
      [undefined, ['b']],
      [undefined, []],
    ]);
  });
});

it('an update without a value is not sent', async () => {
  const vendor = new TestVendor(new Map([['a', { value: '1', happenedAtMs: 0 }]]));
  const job = new TestJob({ a: '1' });
  await writeMerged([group(job)], vendor);
  expect([vendor.requests, job.written]).toEqual([[], []]);
});

it('the items of a record that is gone are returned', async () => {
  const jobs = [new TestJob({ a: '1' }), new TestJob({ b: '2' })];
  expect(await writeMerged([group(...jobs)], new TestVendor(new Map(), { kind: 'missing' }))).toEqual(jobs);
  expect(jobs.every(({ isOpen }) => isOpen)).toBe(true);
});

it.each([
  ['creation', 'maybe'],
  ['creation', 'no'],
  ['update', 'maybe'],
  ['update', 'no'],
] as const)('a failed %s (it may have been carried out: %s) ends all its items', async (what, processed) => {
  const result: Result = { kind: 'retry', detail: 'HTTP 503' };
  const isNew = what === 'creation';
  const vendor = new TestVendor(isNew ? null : new Map(), { kind: 'failed', processed, result });
  const jobs = [new TestJob({ a: '1' }), new TestJob({ b: '2' })];
  expect(await writeMerged([isNew ? newGroup(...jobs) : group(...jobs)], vendor)).toEqual([]);
  expect(jobs.map((job) => job.result)).toEqual([result, result]);
  expect(vendor.mayExist).toEqual(processed === 'maybe' ? jobs : []);
});
