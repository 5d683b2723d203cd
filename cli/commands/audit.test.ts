import type { ParityCounts } from '../../base/parity-words.js';
import type { FindingView, ParityView } from '../../operations/audit-sink.js';
import { createProgram } from '../run-command-line.js';
import { answeringApi } from './answering-api.test-kit.js';

const none: ParityCounts = { same: 0, stale: 0, changed: 0, missing: 0, extra: 0, unreadable: 0, undelivered: 0 };

function parity(counts: Partial<ParityCounts>, more: Partial<ParityView['lanes'][number]> = {}): ParityView {
  const { missing = 0, extra = 0 } = counts;
  return {
    readable: true,
    everyMs: null,
    lanes: [
      {
        workspace: 'acme',
        pigeonholeId: 101,
        pass: 'done',
        startedAt: null,
        endedAt: new Date().toISOString(),
        compared: 1200,
        checked: 1200,
        total: 1200,
        failure: null,
        repairing: 0,
        explained: 0,
        counts: { ...none, ...counts },
        ...more,
      },
    ],
    plan: { until: 7, actions: { send: missing, remove: 0, 'remove-copy': 0 }, byHand: extra },
  };
}

const found: FindingView = {
  number: 3,
  workspace: 'acme',
  pigeonholeId: 101,
  list: 'attendees',
  key: '7',
  revision: 2,
  class: 'changed',
  copy: null,
  fields: ['company'],
  cause: null,
  changedBy: 'user 9',
  changedAt: '2026-11-21T09:00:00.000Z',
  foundAt: '2026-11-22T09:00:00.000Z',
  action: 'send',
  repairing: false,
};

interface Scripted {
  readonly before?: ParityView;
  readonly audited?: ParityView;
  readonly repaired?: ParityView;
  readonly findings?: readonly FindingView[];
  /** Width of the terminal; by default there is none. */
  readonly columns?: number;
}

/** Runs `pigeonpost audit` with these words. @returns the exit code, what it prints, and its requests that change something */
async function run(words: string, { before, audited, repaired, findings = [], columns }: Scripted = {}) {
  let shown = before ?? parity({}, { pass: 'never', endedAt: null });
  const posted: unknown[] = [];
  const api = await answeringApi(({ method, url, body }) => {
    if (method === 'POST') {
      posted.push([url, JSON.parse(body)]);
      shown = (url.endsWith('/repairs') ? repaired : audited) ?? shown;
      return JSON.stringify({});
    }
    return JSON.stringify(url.includes('/findings') ? { items: findings, next: null } : shown);
  });
  const lines: string[] = [];
  const notes: string[] = [];
  const out = { line: (text: string) => void lines.push(text), note: (text: string) => void notes.push(text) };
  let code: unknown;
  const screen = { terminal: columns !== undefined, colours: false, columns: columns ?? 80, rows: 24 };
  const output = { ...out, draw: () => undefined, ...screen };
  const program = createProgram(output, (given) => (code = given));
  try {
    await program.parseAsync(['--config', api.config, 'audit', ...words.split(' ')], { from: 'user' });
    return { code, lines, notes, posted };
  } finally {
    await api.close();
  }
}

describe('pigeonpost audit', () => {
  it('audits the sink, shows the results and differences, and ends with exit code 5 if something differs', async () => {
    const audited = parity({ same: 1199, changed: 1 });
    const { code, lines, notes, posted } = await run('sink:crm --pigeonhole acme/101', { audited, findings: [found] });
    expect(posted).toEqual([['/api/sinks/crm/audits', { pigeonhole: 'acme/101' }]]);
    expect(lines).toEqual([
      expect.stringMatching(/^pigeonhole +same +changed there +audited$/),
      expect.stringMatching(/^acme\/101 +1,199 +1 +\S/),
      'acme/101 attendees:7  changed there by user 9 at 2026-11-21 09:00 UTC  company',
    ]);
    expect(notes.at(-1)).toBe('to repair the differences, run "pigeonpost audit crm --repair"');
    expect(code).toBe(5);
  });

  it('ends with exit code 0 if nothing differs, also if some items were not compared', async () => {
    const { code, lines } = await run('crm', { audited: parity({ same: 1199, undelivered: 1 }) });
    expect(lines[0]).toMatch(/not compared/);
    expect(code).toBe(0);
  });

  it('shows every class on a narrow terminal, in sentences instead of columns', async () => {
    const counts = { same: 1199, stale: 1, changed: 2, missing: 3, extra: 4, unreadable: 5, undelivered: 6 };
    const of = async (columns: number) => (await run('crm --results', { before: parity(counts), columns })).lines;
    expect((await of(120))[0]).toMatch(/^pigeonhole +same +stale +changed there .* not compared {2}audited$/);
    const narrow = await of(80);
    expect(narrow.join(' ').replaceAll(/ +/g, ' ')).toMatch(
      /^acme\/101: 1,199 same, 1 stale, 2 changed there, 3 missing, 4 extra, 5 unreadable, 6 not compared; audited \S/,
    );
    expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('only shows the last results with --results', async () => {
    const { code, posted } = await run('crm --results', { before: parity({ missing: 2 }) });
    expect([code, posted]).toEqual([5, []]);
  });

  it('repairs what the plan contains, after it was shown', async () => {
    const { code, notes, posted } = await run('crm --repair --yes --reason lost', {
      audited: parity({ same: 1197, missing: 2, extra: 1 }),
      repaired: parity({ same: 1199, extra: 1 }),
    });
    expect(posted[1]).toEqual([
      '/api/sinks/crm/repairs',
      expect.objectContaining({ pigeonhole: null, until: 7, reason: 'lost' }),
    ]);
    expect(notes).toContain('send 2 items again');
    expect(notes).toContain('leave 1 difference to an operator at the destination');
    expect(code).toBe(5); // one is left
  });

  it('says why the destination cannot be read, and that it is tried again', async () => {
    const audited = parity({}, { pass: 'running', failure: 'HTTP 503' });
    await expect(run('crm', { audited })).rejects.toThrow('the destination of sink crm cannot be read: HTTP 503');
  });

  it.each([
    ['crm --yes', '--yes confirms a repair: add --repair'],
    ['crm --pigeonhole acme', '--pigeonhole is "acme": give WORKSPACE/ID'],
  ])('refuses %s', async (words, message) => {
    await expect(run(words)).rejects.toThrow(message);
  });
});
