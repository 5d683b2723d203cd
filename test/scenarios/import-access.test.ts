import { apiSources } from '../../api/api-sources.test-kit.js';
import { rightsOf, type Role } from '../../api/authenticate.js';
import { type ApiServer, startApi } from '../../api/start-api.js';
import { makeToken } from '../../api/credentials.js';
import { saveMapping } from '../../importing/desk/open-registrants.js';
import { auditEntries } from '../../ledger/audit.js';
import { addToken } from '../../ledger/tokens.js';
import { deskIn } from '../imports/desk.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { useStages } from '../kit/stage.js';

const stages = useStages();
const open: ApiServer[] = [];
afterEach(async () => {
  for (const api of open.splice(0)) await api.close();
});

async function serve(scene: Scene): Promise<string> {
  const api = await startApi({ host: '127.0.0.1', port: 0 });
  open.push(api);
  const { ledger, deps } = scene;
  api.serve(apiSources({ ledger, config: deps.config, imports: deskIn(scene) }));
  return api.url;
}

async function holder(
  scene: Scene,
  name: string,
  given: Role | readonly Role[],
  workspace: string | null = 'acme',
): Promise<string> {
  const roles = [given].flat();
  for (const role of roles) expect(rightsOf([role]).size).toBeGreaterThan(0);
  const { id, hash, text } = makeToken();
  const added = await addToken(scene.ledger, {
    id,
    name,
    hash,
    roles,
    workspace,
    createdBy: 'local',
    expiresAt: null,
  });
  expect(added).toBe(true);
  return text;
}

async function ask(url: string, token: string, body?: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
    ...(body === undefined ? {} : { method: 'POST', body }),
  });
  return { status: answer.status, text: await answer.text() };
}

const file = 'attendeeCode,Name\nA1,Ada Lovelace\nA2,Grace Hopper\n';

describe.each(kinds)('the rows of an import on %s', (kind) => {
  it('are visible to the token that started it and to tokens for personal data; every importer sees the outcomes', async () => {
    const scene = await (await stages.open(kind)).scene();
    const url = await serve(scene);
    const ann = await holder(scene, 'ann', 'importer');
    const ben = await holder(scene, 'ben', 'importer');
    const eve = await holder(scene, 'eve', 'privacy');
    const begun = await ask(`${url}/api/imports?pigeonhole=acme/101&name=people.csv&by=ben`, ann, file);
    expect(begun.status).toBe(201);
    const { id } = JSON.parse(begun.text) as { id: string };
    await scene.ledger.db.query(
      `update registrants set outcome = 'rejected', message = 'Ada Lovelace is taken' where import = $1`,
      [Number(id)],
    );
    const report = `${url}/api/imports/${id}/report`;

    for (const own of [ann]) {
      expect((await ask(`${report}?format=csv`, own)).text).toContain('Grace Hopper');
      expect((await ask(report, own)).text).toContain('Ada Lovelace is taken');
    }
    const refused = await ask(`${report}?format=csv`, ben);
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining(
        'only for the token that started it, and for a token that may import and also has the role privacy or admin',
      ),
    ]);
    const outcomes = await ask(report, ben);
    expect([outcomes.status, outcomes.text]).toEqual([200, expect.stringContaining('"outcome":"rejected"')]);
    expect(outcomes.text).not.toContain('Lovelace');
    expect((await ask(`${report}?format=csv`, eve)).status).toBe(403); // no permission to import
    for (const reader of [
      await holder(scene, 'both', ['importer', 'privacy']),
      await holder(scene, 'root', 'admin', null),
    ]) {
      expect((await ask(`${report}?format=csv`, reader)).text).toContain('Ada Lovelace');
      expect((await ask(report, reader)).text).toContain('Ada Lovelace is taken');
    }
  });

  it('leave an entry in the audit log each time that they are shown, in either format', async () => {
    const scene = await (await stages.open(kind)).scene();
    const url = await serve(scene);
    const ann = await holder(scene, 'ann', 'importer');
    const ben = await holder(scene, 'ben', 'importer');
    const begun = await ask(`${url}/api/imports?pigeonhole=acme/101&name=people.csv`, ann, file);
    const { id } = JSON.parse(begun.text) as { id: string };
    const report = `${url}/api/imports/${id}/report`;

    for (const path of [report, `${report}?only=problems`, `${report}?format=csv`]) {
      expect((await ask(path, ann)).status).toBe(200);
    }
    expect((await ask(report, ben)).status).toBe(200); // only outcomes
    const entries = await auditEntries(
      scene.ledger,
      { who: null, action: 'download-report', target: null },
      { before: null, limit: 10 },
    );
    expect(entries.map(({ who, target, detail, outcome }) => [who, target, detail, outcome])).toEqual(
      ['csv', 'ndjson', 'ndjson'].map((format) => ['ann', 'pigeonhole:acme/101', { import: id, format }, 'done']),
    );
  });

  it('are not visible to a later token of the same name', async () => {
    const scene = await (await stages.open(kind)).scene();
    const url = await serve(scene);
    const first = await holder(scene, 'ann', 'importer');
    const begun = await ask(`${url}/api/imports?pigeonhole=acme/101&name=people.csv`, first, file);
    const { id } = JSON.parse(begun.text) as { id: string };
    await scene.ledger.db.query(`update tokens set revoked_at = now() where name = 'ann'`);
    const second = await holder(scene, 'ann', 'importer');
    expect((await ask(`${url}/api/imports/${id}/report?format=csv`, second)).status).toBe(403);
  });
});

describe.each(kinds)('a saved mapping on %s', (kind) => {
  it('is listed, used and replaced only in its own workspace', async () => {
    const scene = await (await stages.open(kind)).scene();
    const url = await serve(scene);
    const ann = await holder(scene, 'ann', 'importer');
    const other = await holder(scene, 'other', 'importer', 'elsewhere');
    const admin = await holder(scene, 'root', 'admin', null);
    await saveMapping(scene.ledger, {
      workspace: 'elsewhere',
      name: 'tickets',
      columns: { 'Secret column': 'Name' },
      by: null,
    });
    const query = `pigeonhole=acme/101&name=people.csv`;
    const check = await ask(`${url}/api/imports/check?${query}&map=["tickets"]`, ann, file);
    expect([check.status, check.text]).toEqual([422, expect.stringContaining('none is saved yet')]);

    const started = await ask(`${url}/api/imports?${query}&saveMapping=tickets`, ann, file);
    expect(started.status).toBe(201);
    const namesOf = async (token: string): Promise<unknown> => {
      const { text } = await ask(`${url}/api/import-mappings`, token);
      const { mappings } = JSON.parse(text) as { mappings: { workspace: string; columns: object }[] };
      return mappings.map(({ workspace, columns }) => [workspace, Object.keys(columns)]);
    };
    expect(await namesOf(ann)).toEqual([['acme', ['attendeeCode', 'Name']]]);
    expect(await namesOf(other)).toEqual([['elsewhere', ['Secret column']]]);
    expect(await namesOf(admin)).toEqual([
      ['acme', ['attendeeCode', 'Name']],
      ['elsewhere', ['Secret column']],
    ]);
  });
});
