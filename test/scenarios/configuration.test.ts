import { join } from 'node:path';
import { mkdirSync, readFileSync } from 'node:fs';
import {
  compareEditions,
  configurationHistory,
  restoreConfiguration,
} from '../../operations/configurations/history.js';
import { applyConfiguration } from '../../worker/switch-configuration.js';
import { kinds } from '../kit/scenario-kinds.js';
import { statusOf } from '../kit/status-of.js';
import { readArchive } from '../kit/archive.js';
import { approveSink } from '../../ledger/approvals.js';
import { attendee, question, session, vote } from '../kit/items.js';
import { openRunning, type Running } from '../kit/running.js';
import { type Stage, useStages } from '../kit/stage.js';
import { until } from '../until.js';

const stages = useStages();
const open: Running[] = [];
afterEach(async () => {
  for (const running of open.splice(0)) await running.close();
});

const environment = { SCENE_KEY: 'sandbox-key' };

/** Returns the lines of a file with one sync to these sinks. Each sink writes into a folder with its name. */
function yaml(stage: Stage, sinks: Readonly<Record<string, string>>, sync: readonly string[] = []): string[] {
  return [
    `workspaces: { acme: { baseUrl: "${stage.sandbox.baseUrl}", apiKey: "\${SCENE_KEY}" } }`,
    'syncs:',
    '  events:',
    '    workspace: acme',
    `    sinks: [${Object.keys(sinks).join(', ')}]`,
    ...sync.map((line) => `    ${line}`),
    'sinks:',
    ...Object.entries(sinks).map(
      ([name, more]) => `  ${name}: { type: file, folder: ${stage.folder}/${name}${more === '' ? '' : `, ${more}`} }`,
    ),
    `store: embedded:${stage.folder}/data`,
  ];
}

async function running(
  stage: Stage,
  lines: readonly string[],
  folder = stage.folder,
  wakeWorkflows?: () => Promise<void>,
): Promise<Running> {
  mkdirSync(folder, { recursive: true });
  const process = await openRunning(stage.db, folder, lines, environment, wakeWorkflows);
  open.push(process);
  return process;
}

async function filled(stage: Stage): Promise<void> {
  await stage.put('sessions', session(1, { anonymousResponses: false }));
  await stage.put('attendees', attendee(1), attendee(2), attendee(3, { consent: { obtained: false } }));
  await stage.put('questions', question(11, 1, 1));
  await stage.put('votes', vote(11, 2, 1));
}

function linesOf(stage: Stage, sink: string, list?: string): string[] {
  return readArchive(join(stage.folder, sink))
    .filter((line) => list === undefined || line.list === list)
    .map((line) => `${line.list} ${line.key} ${line.revision}`)
    .toSorted((a, b) => (a < b ? -1 : 1));
}

const nothing = { changes: [], pigeonholes: [], deliveries: [], kept: [], atNextStart: [] };

describe.each(kinds)('a changed configuration, on %s', (kind) => {
  it('is applied while Temporal does not answer, and its workflows are woken once it does', async () => {
    const stage = await stages.open(kind);
    let answers = false;
    const process = await running(stage, yaml(stage, { archive: '' }), stage.folder, async () => {
      if (!answers) throw new Error('Temporal does not answer');
    });
    process.write(yaml(stage, { archive: '', fresh: '' }));
    expect(await process.apply()).toMatchObject({ number: 2, changed: true });
    expect([process.editions.current.configuration, process.switches]).toEqual([2, []]);
    answers = true;
    expect([await process.switching.catchUp(), process.switches]).toEqual([true, [2]]);
    expect([await process.switching.catchUp(), process.switches]).toEqual([true, [2]]);
  });

  it('is kept with its author and its file, is compared with others, and makes an earlier one current again', async () => {
    const stage = await stages.open(kind);
    const first = [...yaml(stage, { archive: '' }), '# one archive'];
    const second = [...yaml(stage, { archive: '', fresh: 'mode: observe' }), '# two'];
    const process = await running(stage, first);
    const file = join(stage.folder, 'pigeonpost.yaml');
    const text = (): string => readFileSync(file, 'utf8');
    const history = () => configurationHistory(process.editions.current, { before: null, limit: 10 }, environment);
    process.write(second);
    expect(await history()).toMatchObject({ current: 1, file: { differs: true, problem: null, writable: true } });
    await applyConfiguration(process.editions.current, process.switching, 'an operator', environment);
    expect(await history()).toMatchObject({
      current: 2,
      file: { differs: false },
      items: [
        {
          number: 2,
          by: 'an operator',
          isCurrent: true,
          changes: expect.arrayContaining([expect.objectContaining({ name: 'fresh' })]),
        },
        { number: 1, by: null, isCurrent: false, changes: [], undo: null },
      ],
    });
    const compared = await compareEditions(process.editions.current, { from: 1, to: 2 });
    const lines = compared!.lines!.map(({ kind: mark, text: line }) => `${mark} ${line.trim()}`);
    expect(lines).toEqual(
      expect.arrayContaining(['removed # one archive', 'added # two', 'added sinks: [archive, fresh]']),
    );
    expect(JSON.stringify([compared, await history()])).not.toContain(environment.SCENE_KEY);

    const apply = () => applyConfiguration(process.editions.current, process.switching, 'another', environment);
    const restore = (number: number) => restoreConfiguration(process.editions.current, number, { apply, environment });
    process.write([...second, '# not applied yet']);
    await expect(restore(1)).rejects.toThrow('has changes that were not applied');
    expect(text()).toContain('not applied yet');
    process.write(second);
    await expect(restore(9)).rejects.toThrow('it does not exist');
    expect(await restore(1)).toMatchObject({ number: 3, changed: true });
    expect(text()).toBe(first.join('\n'));
    expect(await history()).toMatchObject({
      current: 3,
      file: { differs: false },
      items: [{ number: 3, by: 'another' }, {}, {}],
    });

    const failing = async () => await Promise.reject(new Error('the switch failed'));
    const refused = restoreConfiguration(process.editions.current, 2, { apply: failing, environment });
    await expect(refused).rejects.toThrow('the switch failed');
    expect(text()).toBe(first.join('\n'));
  });

  it('that narrows a selection withdraws nothing, sends no more of the excluded items, and reports those that stay', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    await stage.put('attendees', attendee(4, { consent: null }), attendee(5, { consent: null }));
    const process = await running(stage, yaml(stage, { archive: 'lists: [attendees, questions, votes]' }));
    await process.settle();
    const sent = linesOf(stage, 'archive');

    process.write(yaml(stage, { archive: 'lists: [attendees, questions], consent: { accept: [obtained, refused] }' }));
    expect((await process.plan()).kept).toEqual([
      { sink: 'archive', list: 'attendees', reason: 'consent-not-asked', items: 2 },
      { sink: 'archive', list: 'votes', reason: 'list-not-wanted', items: 1 },
    ]);
    await process.apply();
    await stage.patch('attendees', 4, { Name: 'Other' });
    await stage.patch('attendees', 1, { Name: 'Other' });
    await stage.pollsAreDue();
    await process.settle();
    expect(linesOf(stage, 'archive')).toEqual([...sent, 'attendees 1 2', 'attendees 3 1'].toSorted());
    expect((await process.plan()).kept).toEqual([]);
  });

  it('is planned with its additions, changes, removals and resulting deliveries, and the plan changes nothing', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const process = await running(stage, yaml(stage, { archive: 'lists: [attendees, sessions]', old: '' }));
    await process.settle();
    expect(await process.plan()).toMatchObject(nothing);

    process.write(
      yaml(
        stage,
        {
          archive: 'lists: [attendees, sessions, questions], consent: { accept: [obtained, refused] }',
          fresh: 'lists: [attendees, votes], history: all',
          quiet: 'history: none',
          watcher: 'lists: [votes], mode: observe',
        },
        ['every: { live: 20s }'],
      ),
    );
    const before = await stage.db.query('select count(*)::int as n from deliveries');
    const plan = await process.plan();
    expect(plan.current).toBe(1);
    expect(plan.changes.map(({ kind: what, what: of, name }) => `${what} ${of} ${name}`)).toEqual([
      'changed sync events',
      'changed sink archive',
      'added sink fresh',
      'removed sink old',
      'added sink quiet',
      'added sink watcher',
    ]);
    expect(plan.changes[0]!.keys).toEqual([
      { key: 'every.live', from: '5s', to: '20s' },
      { key: 'sinks', from: '["archive","old"]', to: '["archive","fresh","quiet","watcher"]' },
    ]);
    expect(plan.changes[3]!.note).toMatch(/^archived with its watermark: everything was delivered/);
    const caused = plan.deliveries.map(({ sink, list, cause, reason, changes, withheld, observed }) => [
      `${sink} ${list} ${cause}${reason === null ? '' : ` ${reason}`}${observed ? ' observed' : ''}`,
      changes,
      withheld,
    ]);
    expect(caused).toEqual([
      ['archive questions list-added', 1, {}],
      ['archive attendees released consent-refused', 1, {}],
      ['fresh attendees history', 2, { 'consent-refused': 1 }],
      ['fresh votes history', 1, {}],
      ['watcher votes history observed', 1, {}],
    ]);
    expect(await stage.db.query('select count(*)::int as n from deliveries')).toEqual(before);
    expect((await process.plan()).current).toBe(1);

    // The result matches the plan.
    const applied = await process.apply();
    expect([applied.number, applied.changed]).toEqual([2, true]);
    await process.settle();
    expect(linesOf(stage, 'archive', 'attendees')).toEqual(['attendees 1 1', 'attendees 2 1', 'attendees 3 1']);
    expect(linesOf(stage, 'archive', 'questions')).toEqual(['questions 11 1']);
    expect(linesOf(stage, 'fresh', 'attendees')).toEqual(['attendees 1 1', 'attendees 2 1']);
    expect(linesOf(stage, 'fresh', 'votes')).toHaveLength(1);
    expect(process.switches).toEqual([2]);
  });

  it('that is sent as text is planned as a replacement of the running file', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const process = await running(stage, yaml(stage, { archive: '' }));
    await process.settle();
    const text = yaml(stage, { archive: '', fresh: '' }).join('\n');
    const plan = await process.plan({ file: '/elsewhere/changed.yaml', text });
    expect(plan.changes.map(({ kind: what, name }) => `${what} ${name}`)).toEqual(['changed events', 'added fresh']);
    await expect(
      process.plan({ file: '/elsewhere/changed.yaml', text: text.replace('type: file', 'type: fil') }),
    ).rejects.toThrow(/^\/elsewhere\/changed\.yaml:7: sinks\.archive\.type: found "fil"/);
    expect(await process.plan()).toMatchObject(nothing);
  });

  it('that is invalid changes nothing, and the error names the mistake', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const lines = yaml(stage, { archive: '' });
    const process = await running(stage, lines);
    await process.settle();
    process.write([...lines, 'sinkz: {}']);
    await expect(process.apply()).rejects.toMatchObject({ name: 'ConfigError' });
    process.write(lines.map((line) => line.replace('${SCENE_KEY}', '${NOT_SET}')));
    await expect(process.apply()).rejects.toThrow(/NOT_SET is not set/);
    expect(process.editions.current.configuration).toBe(1);
    expect(await stage.db.query('select number from configurations')).toEqual([{ number: 1 }]);
    await stage.put('attendees', attendee(4));
    await stage.pollsAreDue();
    await process.settle();
    expect(linesOf(stage, 'archive', 'attendees')).toContain('attendees 4 1');
  });

  it('that lets an observing sink send is planned with the changes that it then sends', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const process = await running(stage, yaml(stage, { archive: 'mode: observe' }));
    await process.settle();
    expect(linesOf(stage, 'archive')).toEqual([]);
    process.write(yaml(stage, { archive: '' }));
    const { deliveries } = await process.plan();
    await process.apply();
    await process.settle();
    const sent = linesOf(stage, 'archive');
    expect(sent.length).toBeGreaterThan(0);
    expect(deliveries).toEqual([
      {
        sink: 'archive',
        list: 'changes',
        cause: 'observed',
        reason: null,
        changes: sent.length,
        withheld: { 'consent-refused': 1 },
        failed: 0,
        observed: false,
        estimated: false,
      },
    ]);
  });

  it('that lets a sink send before it has counted its changes is planned with an estimate', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const process = await running(stage, yaml(stage, { archive: 'mode: observe' }));
    await process.settle();
    await stage.db.query('delete from observations');
    await stage.db.query('update lanes set observed = null');
    process.write(yaml(stage, { archive: '' }));
    const { deliveries } = await process.plan();
    await process.apply();
    await process.settle();
    const withheld = 1; // consent, which is known only when the change is planned
    expect(deliveries).toMatchObject([
      { cause: 'observed', changes: linesOf(stage, 'archive').length + withheld, estimated: true },
    ]);
  });

  it('that changes the destination of an approved sink says that the approval ends', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const process = await running(stage, yaml(stage, { archive: 'mode: observe' }));
    const { id: sinkId, destination } = process.editions.current.sinks.get('archive')!;
    await approveSink(process.ledger, { sinkId, destination, by: 'ana', reason: null });
    const noteOf = async (lines: string[]) => {
      process.write(lines);
      return (await process.plan()).changes.map(({ note }) => note);
    };
    const moved = yaml(stage, { archive: 'mode: observe' }).map((line) => line.replace('/archive', '/elsewhere'));
    expect(await noteOf(moved)).toEqual(['the approval of sink archive ends: it will only observe']);
    expect(await noteOf(yaml(stage, { archive: 'mode: observe, history: none' }))).toEqual([null]);
    expect(await noteOf(moved.map((line) => line.replace(', mode: observe', '')))).toEqual([null]);
  });

  it('archives a removed sink, and delivers the missed changes when the sink is configured again', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const both = yaml(stage, { archive: '', other: '' });
    const process = await running(stage, both);
    await process.settle();
    const had = linesOf(stage, 'other').length;
    process.write(yaml(stage, { archive: '' }));
    await process.apply();
    await stage.put('attendees', attendee(4), attendee(5));
    await stage.pollsAreDue();
    await process.settle();
    expect(linesOf(stage, 'other')).toHaveLength(had);
    const status = await statusOf({ deps: process.editions.current });
    expect([status.settled, status.sinks.map(({ name }) => name)]).toEqual([true, ['archive']]);

    process.write(both);
    const plan = await process.plan();
    expect(plan.changes.at(-1)).toMatchObject({
      kind: 'added',
      name: 'other',
      note: expect.stringContaining('watermark'),
    });
    expect(plan.deliveries).toMatchObject([
      { sink: 'other', list: 'attendees', cause: 'since-watermark', changes: 2, withheld: {} },
    ]);
    await process.apply();
    await process.settle();
    expect(linesOf(stage, 'other')).toHaveLength(had + 2);
    expect(linesOf(stage, 'other')).toEqual(linesOf(stage, 'archive'));
  });

  it('stops reading pigeonholes that it no longer selects, and continues from there if it selects them again', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const lines = yaml(stage, { archive: '' }, ['pigeonholes: { status: [live] }']);
    const process = await running(stage, lines);
    await process.settle();
    await stage.patch('pigeonholes', 101, { status: 'ended' });
    await stage.sweepsAreDue();
    await process.settle();
    const selected = () =>
      stage.db.query<{ live: number }>(
        'select count(*)::int as live from selections where archived_at is null and sync = $1',
        ['events'],
      );
    expect(await selected()).toEqual([{ live: 1 }]); // its status alone does not end the selection

    process.write(yaml(stage, { archive: '' }, ['pigeonholes: { exclude: [101] }']));
    expect((await process.plan()).pigeonholes).toEqual([
      { sync: 'events', workspace: 'acme', added: [], removed: [101], unread: 0 },
    ]);
    await process.apply();
    await process.settle();
    expect(await selected()).toEqual([{ live: 0 }]);

    process.write(yaml(stage, { archive: '' }));
    expect((await process.plan()).pigeonholes).toMatchObject([{ added: [101], removed: [], unread: 0 }]);
    await process.apply();
    await stage.put('attendees', attendee(4));
    await stage.pollsAreDue();
    await process.settle();
    expect(await selected()).toEqual([{ live: 1 }]);
    expect(linesOf(stage, 'archive', 'attendees')).toEqual(['attendees 1 1', 'attendees 2 1', 'attendees 4 1']);
  });

  it('is applied by a process with the same file, and refused by a process with another file', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const first = yaml(stage, { archive: '' });
    const one = await running(stage, first, join(stage.folder, 'one'));
    const two = await running(stage, first, join(stage.folder, 'two'));
    await one.settle();
    const changed = yaml(stage, { archive: '', fresh: '' });
    one.write(changed);
    await one.apply();
    await expect(two.settle()).rejects.toMatchObject({
      name: 'LedgerError',
      message: expect.stringContaining('this process runs configuration 1, and 2 is current'),
    });
    two.write(changed);
    await until('the second process has looked into its file again', () => two.switching.catchUp());
    await two.settle();
    expect(two.editions.current.configuration).toBe(2);
    expect([one.switches, two.switches]).toEqual([[2], [2]]);
    expect(linesOf(stage, 'fresh')).toEqual(linesOf(stage, 'archive'));

    two.write(first);
    await two.apply();
    await expect(one.apply()).rejects.toThrow(/this process runs configuration 2, and 3 is current/);
  });

  it('can be reverted: the previous configuration gets a new number', async () => {
    const stage = await stages.open(kind);
    const first = yaml(stage, { archive: '' });
    const process = await running(stage, first);
    process.write(yaml(stage, { archive: '', fresh: '' }));
    await process.apply();
    process.write(first);
    expect(await process.apply()).toMatchObject({ number: 3, changed: true });
    expect(await process.apply()).toMatchObject({ number: 3, changed: false });
  });

  it('closes resources only after the cycle that uses them has finished', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const process = await running(stage, yaml(stage, { archive: '' }));
    const old = process.editions.current;
    let closed = false;
    const { sink } = old.sinks.get('archive')!;
    const close = sink.close.bind(sink);
    sink.close = async () => {
      closed = true;
      await close();
    };
    let letGo!: () => void;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const turn = process.editions.use(async (deps) => {
      await held;
      return deps.configuration;
    });
    process.write(yaml(stage, { archive: '', fresh: '' }));
    await process.apply();
    expect([closed, process.editions.current.configuration]).toEqual([false, 2]);
    letGo();
    expect(await turn).toBe(1);
    expect(closed).toBe(true);
  });

  it('has a plan without secrets', async () => {
    const stage = await stages.open(kind);
    const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    const hook = (path: string): string[] => [
      ...yaml(stage, { archive: '' }).filter((line) => !line.startsWith('store')),
      `  hooks: { type: webhook, url: "https://hooks.example.com/${path}", secret: "\${HOOK}" }`,
    ];
    const process = await openRunning(stage.db, stage.folder, hook('token-one'), { ...environment, HOOK: secret });
    open.push(process);
    process.write(hook('token-two'));
    const plan = await process.plan();
    expect(plan.changes).toMatchObject([{ name: 'hooks', keys: [{ key: 'url' }] }]);
    expect(JSON.stringify(plan)).not.toMatch(/token-|whsec_|sandbox-key/);
  });
});
