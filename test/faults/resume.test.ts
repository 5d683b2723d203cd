import { tryNow, act, handleRequest } from '../../operations/act.js';
import { kinds } from '../kit/scenario-kinds.js';
import { allPauses, pause } from '../../ledger/pauses.js';
import { attendee } from '../kit/items.js';
import { starterOf } from '../kit/starter-of.js';
import { archived, pigeonhole, useStages } from '../kit/stage.js';

const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: pigeonhole };

describe.each(kinds)('a workspace whose key was refused, on %s', (kind) => {
  it('continues immediately with all its lists and imports when an operator resumes it', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    await scene.settle();
    await stage.control('POST', 'keys', { accepted: [] });
    await stage.pollsAreDue();
    await scene.read(place);
    expect((await scene.read(place)).state).toBe('waiting');
    await stage.control('POST', 'keys', { accepted: ['sandbox-key'] });
    await stage.put('attendees', attendee(1));
    await stage.db.query(`update streams set due_at = now() + interval '1 hour'`);
    expect((await scene.read(place)).state).toBe('waiting'); // fixed in the service, but pigeonpost was not notified

    const importId = '6f1dcb6e-3c1f-4f0e-9f6e-0a3f5a1c2b3d';
    await stage.db.query(
      `insert into imports (id, pigeonhole_number, file, mapping, state, chunk_size)
       select $1, pigeonhole_number, 'people.csv', '{}', 'running', 100 from pigeonholes where pigeonhole_id = $2`,
      [importId, pigeonhole],
    );
    const woken: string[] = [];
    const starter = {
      ...starterOf(scene.deps),
      wakeReaders: () => void woken.push('readers'),
      wakeWorkflow: async ({ id }: { readonly id: string }) => woken.push(id) > 0,
    };
    const resume = { do: 'resume', kind: 'workspace', name: 'acme' } as const;
    expect(await act({ deps: scene.deps, starter }, resume)).toBe('done');
    expect(woken).toEqual(['readers', 'discover/acme', `import/${importId}`]);
    expect(await allPauses(scene.ledger)).toEqual([]);
    expect((await scene.read(place)).pages).toBeGreaterThan(0);
    await scene.settle();
    expect(archived(scene, 'attendees')).toHaveLength(1);
  });

  it('can be tried immediately, which also ends the backoff of its imports', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    await scene.settle();
    await stage.db.query(
      `insert into imports (id, pigeonhole_number, file, mapping, state, chunk_size, failures, retry_at)
       select gen_random_uuid(), pigeonhole_number, 'people.csv', '{}', 'running', 100, 3, now() + interval '5 minutes'
       from pigeonholes where pigeonhole_id = $1`,
      [pigeonhole],
    );
    expect(await tryNow(scene.ledger, { kind: 'workspace', name: 'acme', key: null })).toBeUndefined();
    expect(await stage.db.query('select number from imports where retry_at > now()')).toEqual([]);
  });

  it('waits again if the key is still refused', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    await scene.settle();
    await stage.control('POST', 'keys', { accepted: [] });
    await stage.pollsAreDue();
    await scene.read(place);
    await handleRequest(scene.ledger, { kind: 'workspace', name: 'acme' }, { do: 'resume' });
    await stage.requests();
    await scene.read(place);
    expect((await stage.requests()).length).toBeGreaterThan(0);
    expect(await scene.read(place)).toMatchObject({ state: 'waiting', reason: 'credential' });
    expect(await allPauses(scene.ledger)).toMatchObject([{ scope: 'workspace', name: 'acme', cause: 'credential' }]);
  });
});

describe.each(kinds)('resuming a workspace, on %s', (kind) => {
  it('does not end a wait for the quota or the pause of one pigeonhole', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    await scene.settle();
    await stage.db.query(
      `update workspaces set wait_until = now() + interval '1 hour', wait_reason = 'quota', wait_count = 1`,
    );
    const entry = {
      scope: 'pigeonhole',
      name: 'acme/101',
      pausedBy: 'person',
      cause: 'asked',
      detail: 'no reason given',
      fingerprint: null,
    } as const;
    await pause(scene.ledger, entry);
    await handleRequest(scene.ledger, { kind: 'workspace', name: 'acme' }, { do: 'resume' });
    expect((await scene.discover()).reason).toBe('quota');
    expect(await allPauses(scene.ledger)).toMatchObject([{ scope: 'pigeonhole', name: 'acme/101' }]);
  });
});
