import { planOf } from '../../operations/configuration-plan.test-kit.js';
import { ExitCode } from '../exit-code.js';
import { answeringApi, listening } from './answering-api.test-kit.js';
import { applyConfig, formatPlan, planConfig } from './configuration.js';

const caused = {
  sink: 'hooks',
  list: 'votes',
  reason: null,
  changes: 7,
  withheld: {},
  failed: 0,
  observed: false,
  estimated: false,
} as const;
/** A list that a mapping withholds completely, because it reads a field that no item has. */
const typo = {
  sink: 'crm',
  list: 'attendees',
  items: 2142,
  withheld: { 'no-match': 2142 },
  failed: 0,
  before: 0,
  problem: 'all 2,142 attendees lack a value for email: crm.records[0].match',
  estimated: false,
};

describe('the text of a plan', () => {
  it('says if nothing changes', () => {
    expect(formatPlan(planOf())).toEqual(['nothing changes: this is configuration 3']);
  });

  it('lists changed keys first, then pigeonholes, then deliveries', () => {
    expect(
      formatPlan(
        planOf({
          changes: [
            {
              kind: 'changed',
              what: 'sync',
              name: 'events',
              keys: [{ key: 'every.live', from: '5s', to: '1m' }, { key: 'url' }],
              note: null,
            },
            { kind: 'removed', what: 'sink', name: 'old', keys: [], note: 'archived with its watermark' },
          ],
          pigeonholes: [{ sync: 'events', workspace: 'acme', added: [101, 102], removed: [99], unread: 1 }],
          deliveries: [
            { ...caused, cause: 'history', withheld: { 'consent-refused': 2 } },
            { ...caused, cause: 'list-added', failed: 2, observed: true },
            { ...caused, cause: 'released', reason: 'consent-not-asked' },
            { ...caused, cause: 'since-watermark', list: 'pigeonholes', changes: 1 },
            { ...caused, cause: 'observed', list: 'changes', changes: 681, withheld: { 'consent-refused': 40 } },
          ],
          withholding: [
            typo,
            {
              sink: 'hooks',
              list: 'votes',
              items: 9000,
              withheld: { condition: 4000 },
              failed: 12,
              before: 3,
              problem: null,
              estimated: true,
            },
          ],
          kept: [
            { sink: 'hooks', list: 'answers', reason: 'list-not-wanted', items: 40 },
            { sink: 'crm', list: 'attendees', reason: 'consent-not-asked', items: 12 },
          ],
          atNextStart: ['server'],
          warnings: ['pigeonpost.yaml:9: sinks.old: no sync names this sink'],
        }),
      ),
    ).toEqual([
      'changed: sync events',
      '  every.live: 5s becomes 1m',
      '  url changed',
      'removed: sink old (archived with its watermark)',
      'sync events (acme): starts reading pigeonholes 101, 102; no longer reads pigeonhole 99; 1 of the new ones not read yet',
      'sink hooks will receive 7 votes, 2 withheld: consent refused (existing items: the sink is new)',
      'sink hooks will count, without sending, 7 votes, 2 for which the mapping fails (existing items: the list is new for this sink)',
      'sink hooks will receive 7 votes (withheld until now: consent not asked)',
      'sink hooks will receive 1 pigeonhole (found while the sink was not in the configuration)',
      'sink hooks will receive 681 changes, 40 withheld: consent refused (found while the sink only observed)',
      'PROBLEM sink crm: all 2,142 attendees lack a value for email: crm.records[0].match',
      'sink hooks: the mapping does not send about 4,012 of 9,000 votes, 3 until now (4,000 withheld: excluded by its condition, 12 for which the mapping fails)',
      'sink hooks keeps 40 answers that it received, and no longer receives their changes (from a list that the sink no longer receives)',
      'sink crm keeps 12 attendees that it received, and no longer receives their changes (consent not asked)',
      'at the next start: server',
      'note: pigeonpost.yaml:9: sinks.old: no sync names this sink',
    ]);
  });

  it('counts pigeonholes instead of listing many', () => {
    const added = Array.from({ length: 11 }, (_, index) => index + 1);
    expect(
      formatPlan(planOf({ pigeonholes: [{ sync: 'events', workspace: 'acme', added, removed: [], unread: 0 }] })),
    ).toEqual(['sync events (acme): starts reading 11 pigeonholes']);
  });
});

describe('config apply', () => {
  const isTerminal = process.stdin.isTTY;
  beforeEach(() => (process.stdin.isTTY = false));
  afterEach(() => (process.stdin.isTTY = isTerminal));

  it('requests a confirmation if a sink sends what it observed', async () => {
    const shown = planOf({ deliveries: [{ ...caused, cause: 'observed', list: 'changes', changes: 681 }] });
    const api = await answeringApi(() => JSON.stringify(shown));
    try {
      await expect(applyConfig(listening(api.config).context, { json: false, yes: false })).rejects.toMatchObject({
        exitCode: ExitCode.WrongUse,
        message: expect.stringContaining('Apply the file? This sends 681 changes to sinks. There is no terminal'),
      });
    } finally {
      await api.close();
    }
  });

  it('requests a confirmation if nothing is sent but a mapping withholds more than before', async () => {
    const shown = planOf({ withholding: [typo] });
    const applied: string[] = [];
    const api = await answeringApi(({ url }) => {
      if (!url.startsWith('/api/configuration/apply')) return JSON.stringify(shown);
      applied.push(url);
      return JSON.stringify({ number: 4, changed: true, plan: shown });
    });
    const { context, lines } = listening(api.config);
    const apply = (yes: boolean) => applyConfig(context, { json: false, yes });
    try {
      await expect(apply(false)).rejects.toMatchObject({
        exitCode: ExitCode.WrongUse,
        message: expect.stringContaining(
          'Apply the file? The mapping of sink crm does not send 2,142 of 2,142 attendees. There is no terminal',
        ),
      });
      expect([lines, applied]).toEqual([
        ['PROBLEM sink crm: all 2,142 attendees lack a value for email: crm.records[0].match'],
        [],
      ]);
      expect(await apply(true)).toBe(ExitCode.Done);
      expect(applied).toHaveLength(1);
    } finally {
      await api.close();
    }
  });
});

describe('a draft of the page', () => {
  const draft = {
    sink: 'crm',
    kind: 'mapping',
    body: 'records: []\n',
    base: '',
    sync: null,
    version: 3,
    savedBy: 'ada',
    savedAt: '2026-11-29T10:00:00.000Z',
    conflict: null,
  };

  const served = async (bodies: string[]) =>
    await answeringApi(({ url, body }) => {
      bodies.push(`${url} ${body}`);
      if (url === '/api/configuration/drafts') return JSON.stringify({ drafts: [draft], writable: true, file: '/x' });
      const plan = planOf();
      return JSON.stringify(url.endsWith('/apply') ? { number: 4, changed: true, plan } : plan);
    });

  it('is named by config plan, planned by its sink, and applied in the version that was planned', async () => {
    const bodies: string[] = [];
    const api = await served(bodies);
    try {
      const named = listening(api.config);
      expect(await planConfig(named.context, { json: false })).toBe(ExitCode.Done);
      expect(named.lines.join('\n')).toContain(
        'draft: another mapping of sink crm, saved by ada on 2026-11-29: run "pigeonpost config plan --draft crm"',
      );
      await planConfig(listening(api.config).context, { json: false, draft: 'sink:crm' });
      expect(bodies).toContain('/api/configuration/plan {"draft":"crm"}');
      await applyConfig(listening(api.config).context, { json: false, yes: true, draft: 'crm' });
      expect(bodies.at(-1)).toBe('/api/configuration/drafts/crm/apply {"version":3}');
      await expect(
        applyConfig(listening(api.config).context, { json: false, yes: true, draft: 'other' }),
      ).rejects.toMatchObject({ exitCode: ExitCode.NotFound });
    } finally {
      await api.close();
    }
  });
});
