import { freshnessOf, pigeonholeOf, sinkOf, workspaceOf } from '../cli/status/status.test-kit.js';
import { behindMsOf, viewProblems, type WorkSnapshot } from './find-problems.js';
import { groupByCause } from './group-by-cause.js';
import type { PigeonholeView, SinkView } from './status-view.js';

const now = new Date('2026-11-21T10:00:00.000Z');
const late = freshnessOf({ lateLists: 2, lateSeconds: 300, late: 'votes and 1 more' });

function shown(pigeonholes: readonly Partial<PigeonholeView>[], more: Partial<WorkSnapshot> = {}) {
  const views = pigeonholes.map((each, index) => pigeonholeOf({ id: 101 + index, ...each }));
  const snapshot: WorkSnapshot = {
    trouble: null,
    workspaces: [workspaceOf({ pigeonholes: views })],
    sinks: [],
    lanes: [],
    folders: [],
    exports: [],
    file: null,
    now,
    ...more,
  };
  return groupByCause(viewProblems(snapshot));
}

const many = (n: number, given: Partial<PigeonholeView>) => Array.from({ length: n }, () => given);

describe('problems with one cause', () => {
  it('are one sentence for all events whose lists are late, which names what is the matter', () => {
    const [problem, ...others] = shown(many(52, { freshness: late }));
    expect(others).toEqual([]);
    expect(problem).toMatchObject({
      code: 'reading-late',
      kind: 'workspace',
      name: 'acme',
      title: '104 lists of 52 events of workspace acme are late',
      detail: 'acme/101, acme/102, acme/103 and 49 more events',
      says: expect.stringMatching(/^A worker runs, but does not keep up: the machine is too slow/) as string,
      page: '#/workspace/acme',
      help: { label: 'Read all now', action: { do: 'poll-now', kind: 'workspace', name: 'acme' } },
    });
    expect(problem!.advice).not.toMatch(/Check that a worker runs/);
  });

  it('are one sentence for each answer of the service', () => {
    const failing = (reason: string) => ({ state: 'failing', failing: 3, reason }) as const;
    const problems = shown([...many(4, failing('HTTP 500')), ...many(2, failing('a cut answer')), failing('other')]);
    expect(problems.map(({ title }) => title)).toEqual([
      'pigeonpost cannot read 12 lists of 4 events of workspace acme',
      'pigeonpost cannot read 6 lists of 2 events of workspace acme',
      'pigeonpost cannot read 3 lists of pigeonhole acme/107',
    ]);
    expect(problems[0]!.text).toContain('HTTP 500 (acme/101, acme/102, acme/103 and 1 more event)');
  });

  it('stay as they are for a single event, and where each needs its own decision', () => {
    expect(shown([{ freshness: late }])[0]).toMatchObject({ kind: 'pigeonhole', name: 'acme/101' });
    expect(shown(many(3, { heldDeletions: 7 }))).toHaveLength(3);
  });

  it('are not shown beside the process that makes no progress', () => {
    const codes = shown(many(52, { freshness: late }), { trouble: 'no worker runs' }).map(({ code }) => code);
    expect(codes).toEqual(['process-failing']);
  });
});

it('a sink is behind in the status after the time that its alert has', () => {
  const sink: SinkView = sinkOf({ backlog: 3 });
  const waitsSince = new Date(now.getTime() - 10 * 60_000);
  const lane = { sink: sink.name, waitsSince, waitsFor: null, failingSince: null, retryAt: null };
  const snapshot = {
    trouble: null,
    workspaces: [],
    sinks: [sink],
    lanes: [lane],
    folders: [],
    exports: [],
    file: null,
    now,
  };
  const codesWith = (behindMs: number | undefined) =>
    viewProblems(snapshot as unknown as WorkSnapshot, {
      behindMs: behindMsOf({ alerts: { when: { behind: behindMs } } as never }),
    }).map(({ code }) => code);
  expect(codesWith(undefined)).toEqual(['sink-behind']);
  expect(codesWith(9 * 60_000)).toEqual(['sink-behind']);
  expect(codesWith(15 * 60_000)).toEqual([]);
});
