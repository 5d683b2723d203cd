import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { deliverToSink } from '../../delivering/deliver-to-sink.js';
import { discoverWorkspace } from '../../reading/discover.js';
import { readPigeonhole } from '../../reading/read-pigeonhole.js';
import { kinds } from '../kit/scenario-kinds.js';
import { allPauses } from '../../ledger/pauses.js';
import { liftRefusedKeys } from '../../requests/clients.js';
import { readArchive } from '../kit/archive.js';
import { attendee, pollVote, session } from '../kit/items.js';
import { archived, everyone, pigeonhole, useStages } from '../kit/stage.js';

const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: pigeonhole };
const never = new AbortController().signal;

const event = (id: number, more: object = {}) => ({
  id,
  name: `Event ${id}`,
  status: 'live',
  startDate: '2026-11-20',
  endDate: '2026-11-22',
  timezone: 'UTC',
  passcode: 'MARK42',
  links: { admin: 'https://admin.example.com/secret' },
  ...more,
});

const waitIsOver = `update workspaces set wait_until = now() where wait_until > now()`;
const quotaWaitIsOver = `update quotas set ask_at = now() where ask_at > now()`;

describe.each(kinds)('a workspace, on %s', (kind) => {
  it('waits as a whole when its quota is used up, sends no requests, and continues automatically', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', ...[1, 2, 3, 4, 5, 6].map((id) => session(id)));
    await stage.put('attendees', attendee(1));
    const scene = await stage.scene();
    await scene.settle();
    await stage.put('poll-mcq-votes', pollVote(51, { id: 1, anonymous: false }, 1));
    await stage.requests();
    await stage.control('PATCH', 'knobs', { quota: { limit: 2, windowSeconds: 3600, headers: false } });
    await stage.pollsAreDue();
    await scene.read(place);

    const refused = (await stage.requests()).filter(({ code }) => code === 8000);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    expect(refused.length).toBeLessThanOrEqual(4); // the concurrent requests, but none after them
    const turn = await scene.read(place);
    expect(turn).toMatchObject({ state: 'waiting', reason: 'quota', pages: 0 });
    expect(turn.nextDueInMs).toBeGreaterThan(0);
    expect((await scene.discover()).state).toBe('waiting');
    expect(await stage.requests()).toEqual([]);

    await stage.control('PATCH', 'knobs', { quota: null });
    await stage.db.query(waitIsOver);
    await stage.db.query(quotaWaitIsOver);
    await stage.pollsAreDue();
    await scene.settle();
    expect(archived(scene, 'poll-mcq-votes')).toHaveLength(1);
  });

  it('tries a refused key with single requests at growing intervals, and reports a pause', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', ...[1, 2, 3, 4, 5, 6].map((id) => session(id)));
    const scene = await stage.scene();
    await scene.settle();
    await stage.control('POST', 'keys', { accepted: ['another-key'] });
    await stage.requests();
    for (const [probe, waitMs] of [30_000, 60_000, 120_000, 240_000].entries()) {
      await stage.db.query(
        `update streams set due_at = case when list in ('sessions', 'attendees', 'qna-questions') then now() + interval '1 hour' else now() end`,
      );
      const [before] = await stage.db.query<{ now: string }>('select clock_timestamp()::text as now');
      await stage.db.query(waitIsOver);
      await scene.read(place);
      const asked = (await stage.requests()).length;
      if (probe > 0) expect(asked).toBe(1);
      const turn = await scene.read(place);
      expect(turn).toMatchObject({ state: 'waiting', reason: 'credential' });
      expect(turn.nextDueInMs).toBeLessThanOrEqual(waitMs);
      const [wait] = await stage.db.query<{ from_before_ms: number }>(
        'select extract(epoch from wait_until - $1::timestamptz)::float8 * 1000 as from_before_ms from workspaces',
        [before!.now],
      );
      expect(wait!.from_before_ms).toBeGreaterThanOrEqual(waitMs);
    }
    expect(await stage.requests()).toEqual([]);
    expect(await allPauses(scene.ledger)).toMatchObject([
      { scope: 'workspace', name: 'acme', pausedBy: 'cause', cause: 'credential' },
    ]);
    expect(JSON.stringify(await allPauses(scene.ledger))).not.toContain('sandbox-key');
  });

  it('lets one process try a refused key while the others wait', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    await scene.settle();
    await stage.control('POST', 'keys', { accepted: [] });
    await stage.pollsAreDue();
    await scene.read(place);
    await stage.db.query(waitIsOver);
    await stage.requests();
    await Promise.all([scene.read(place), scene.read(place), scene.discover()]);
    expect(await stage.requests()).toHaveLength(1);
  });

  it('is tried immediately with another key, but not with the refused one', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    await scene.settle();
    await stage.control('POST', 'keys', { accepted: ['another-key'] });
    await stage.pollsAreDue();
    await scene.read(place);
    await liftRefusedKeys(scene.deps.config, scene.ledger);
    expect((await scene.read(place)).state).toBe('waiting');

    const changed = await stage.scene({ apiKey: 'another-key' });
    await liftRefusedKeys(changed.deps.config, changed.ledger);
    await stage.put('attendees', attendee(1));
    await stage.pollsAreDue();
    await changed.settle();
    expect(await allPauses(changed.ledger)).toEqual([]);
    expect(archived(changed, 'attendees')).toHaveLength(1);
  });

  it('reads a pigeonhole once for the sinks of two syncs that select it', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    const sinks = {
      archive: `{ type: file, folder: ./archive, ${everyone} }`,
      second: `{ type: file, folder: ./second, ${everyone} }`,
    };
    const scene = await stage.scene({ sinks, sync: 'every: { live: 1h }' }); // no list is due twice in a slow cycle
    const { events } = scene.deps.config.syncs;
    const syncs = { events: { ...events!, sinks: ['archive'] }, more: { ...events!, sinks: ['second'] } };
    const deps = { ...scene.deps, config: { ...scene.deps.config, syncs } };
    await discoverWorkspace(deps, 'acme', never);
    await stage.requests();
    await readPigeonhole(deps, place, never);
    expect((await stage.requests()).filter(({ path }) => path.endsWith('/attendees'))).toHaveLength(1);
    await deliverToSink(deps, 'archive', never);
    await deliverToSink(deps, 'second', never);
    const perSink = await stage.db.query(
      `select s.name, l.delivered from lanes l join sinks s on s.id = l.sink_id
         where l.pigeonhole_number = (select pigeonhole_number from pigeonholes where pigeonhole_id = 101) order by 1`,
    );
    expect(perSink).toEqual([
      { name: 'archive', delivered: 1 },
      { name: 'second', delivered: 1 },
    ]);
  });

  it('sends a sink no record of a pigeonhole until one of its syncs selects it', async () => {
    const stage = await stages.open(kind);
    await stage.put('pigeonholes', event(102, { status: 'ended' }), event(103));
    const scene = await stage.scene({ sync: 'pigeonholes: { status: [live], exclude: [103] }' });
    await scene.settle();
    const records = (): string[] => archived(scene, 'pigeonholes').map(({ key, revision }) => `${key} ${revision}`);
    expect(records()).toEqual(['101 1']);
    expect(JSON.stringify(archived(scene, 'pigeonholes'))).not.toMatch(/links|passcode/);
    const stored = await stage.db.query('select payload::text from items union all select snapshot::text from changes');
    expect(JSON.stringify(stored)).not.toMatch(/passcode|MARK42/);

    await stage.patch('pigeonholes', 102, { status: 'live' });
    await stage.pollsAreDue();
    await scene.settle();
    expect(records().toSorted()).toEqual(['101 1', '102 1', '102 2']);
    await stage.patch('pigeonholes', 102, { status: 'ended' }); // a selected pigeonhole stays selected
    await stage.pollsAreDue();
    await scene.settle();
    expect(records().toSorted()).toEqual(['101 1', '102 1', '102 2', '102 3']);
  });

  it('removes a stored field that the reading rules leave out now, without reporting a change', async () => {
    const stage = await stages.open(kind);
    await stage.put('pigeonholes', event(102));
    const scene = await stage.scene();
    await scene.settle();
    await stage.patch('pigeonholes', 102, { name: 'Another name' }); // a snapshot of the first revision is stored
    await stage.pollsAreDue();
    await scene.settle();
    const before = archived(scene, 'pigeonholes').length;
    // Stores the passcode in the payload, the hash and snapshots, as under rules that keep it.
    const withIt = `json_build_object('passcode', 'MARK42')::jsonb`;
    await stage.db.query(
      `update items set rules = '[1]', content_hash = '\\x00', payload = (payload::jsonb || ${withIt})::json
       where list = 'pigeonholes' and payload is not null`,
    );
    await stage.db.query(
      `update changes set snapshot = (coalesce(snapshot, '{}')::jsonb || ${withIt})::json where list = 'pigeonholes'`,
    );
    await stage.db.query(`update pages set digest = '\\x00'`); // the digest includes the rules
    await stage.sweepsAreDue();
    await stage.pollsAreDue();
    await scene.settle();
    expect(archived(scene, 'pigeonholes')).toHaveLength(before);
    const stored = await stage.db.query(
      `select payload::text from items union all select snapshot::text from changes where snapshot is not null`,
    );
    expect(JSON.stringify(stored)).not.toContain('MARK42');
  });

  it('releases the record of a selected pigeonhole even if the process died right after the selection', async () => {
    const stage = await stages.open(kind);
    await stage.put('pigeonholes', event(102, { status: 'ended' }));
    const scene = await stage.scene({ sync: 'pigeonholes: { status: [live] }' });
    await scene.settle();
    await stage.db.query(`insert into pigeonholes (workspace, pigeonhole_id, status) values ('acme', 102, 'ended')`);
    await stage.db.query(
      `insert into selections (sync, pigeonhole_number) select 'events', pigeonhole_number from pigeonholes
         where pigeonhole_id = 102`,
    );
    await scene.settle();
    expect(archived(scene, 'pigeonholes').map(({ key }) => key)).toEqual(['101', '102']);
  });

  it('keeps every revision for a sink that exists from the start and sends later', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    const scene = await stage.scene();
    await scene.discover();
    await scene.read(place);
    await stage.patch('attendees', 1, { Name: 'Other' });
    await stage.pollsAreDue();
    await scene.read(place);
    await scene.settle();
    expect(archived(scene, 'attendees').map(({ revision }) => revision)).toEqual([1, 2]);
  });

  it('starts with the last change of each item at a sink that is added later', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1), attendee(2));
    const alone = await stage.scene();
    await alone.settle();
    await stage.patch('attendees', 1, { Name: 'Other' });
    await stage.pollsAreDue();
    await alone.settle();
    const scene = await stage.webhookScene();
    await scene.settle();
    await stage.patch('attendees', 2, { Name: 'Other' });
    await stage.pollsAreDue();
    await scene.settle();
    const [first, second, third] = stage.received('attendees').map(({ key, revision, id }) => ({ key, revision, id }));
    expect([first, second, third]).toMatchObject([
      { key: '2', revision: 1 },
      { key: '1', revision: 2 },
      { key: '2', revision: 2 },
    ]);
    expect(archived(alone, 'attendees', 1)[1]!.id).toBe(second!.id);
  });

  it('sends a sink items that it excluded before as soon as it accepts them, even if they were read long ago', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(1), attendee(2));
    const narrow = await stage.scene({
      sinks: { archive: `{ type: file, folder: ${stage.folder}/a, ${everyone}, lists: [sessions] }` },
    });
    await narrow.settle();
    const lists = (): string[] => readArchive(join(stage.folder, 'a')).map(({ list, key }) => `${list} ${key}`);
    expect(lists().toSorted()).toEqual(['sessions 1']);

    const wide = await stage.scene({
      sinks: { archive: `{ type: file, folder: ${stage.folder}/a, ${everyone}, lists: [sessions, attendees] }` },
    });
    await wide.settle();
    expect(lists().toSorted()).toEqual(['attendees 1', 'attendees 2', 'sessions 1']);

    await stage.pollsAreDue();
    await wide.settle();
    expect(lists()).toHaveLength(3);
  });

  it('sends a newly accepted list to a sink even if the list was read earlier for another purpose', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1)); // read to decide about anonymity; no sink accepts it
    const archive = (names: string): Record<string, string> => ({
      archive: `{ type: file, folder: ${stage.folder}/b, ${everyone}, lists: [${names}] }`,
    });
    await (await stage.scene({ sinks: archive('questions') })).settle();
    expect(existsSync(join(stage.folder, 'b')) ? readArchive(join(stage.folder, 'b')) : []).toEqual([]);
    await (await stage.scene({ sinks: archive('questions, sessions') })).settle();
    expect(readArchive(join(stage.folder, 'b')).map(({ list, key, revision }) => ({ list, key, revision }))).toEqual([
      { list: 'sessions', key: '1', revision: 1 },
    ]);
  });
});
