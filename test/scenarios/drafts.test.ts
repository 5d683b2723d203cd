import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuseOlderConfiguration } from '../../ledger/configurations.js';
import { allDrafts } from '../../ledger/configuration-drafts.js';
import { applyDraft, listDrafts, saveMappingDraft } from '../../operations/drafts/drafts.js';
import { readFileMapping } from '../../operations/drafts/read-file-mapping.js';
import { type TriedMapping, tryMapping } from '../../operations/drafts/try-mapping.js';
import { documentOf } from '../../operations/editions.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';
import { planConfiguration } from '../../operations/plan-configuration.js';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { kinds } from '../kit/scenario-kinds.js';
import { attendee } from '../kit/items.js';
import { openRunning, type Running } from '../kit/running.js';
import { type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const environment = { SCENE_KEY: 'sandbox-key', HUBSPOT_TOKEN: 'hubspot-token', OTHER_SECRET: 'other-secret-6620' };
let hubspot: HubSpotDouble;
let open: Running | undefined;
beforeEach(async () => {
  hubspot = await startHubSpotDouble();
});
afterEach(async () => {
  await open?.close();
  await hubspot.close();
});

const wrong = `records:
  - from: attendees
    object: contacts
    match: [email]
    properties:
      email: item.email # the address
      firstname: item.Name
`;
const right = wrong.replace('item.email', 'item.Email');

function yaml(stage: Stage): string[] {
  return [
    `workspaces: { acme: { baseUrl: "${stage.sandbox.baseUrl}", apiKey: "\${SCENE_KEY}" } }`,
    'syncs: { events: { workspace: acme, sinks: [crm] } }',
    'sinks:',
    '  crm: # our contacts',
    '    type: hubspot',
    '    token: ${HUBSPOT_TOKEN} # of the account',
    `    baseUrl: "${hubspot.url}"`,
    '    # who becomes a contact',
    ...wrong
      .trimEnd()
      .split('\n')
      .map((line) => `    ${line}`),
    `store: embedded:${stage.folder}/data`,
  ];
}

async function running(): Promise<{ process: Running; stage: Stage; file: string }> {
  const stage = await stages.open(kinds[0]!);
  await stage.put('attendees', attendee(1), attendee(2), attendee(3, { Email: '' }));
  const process = await openRunning(stage.db, stage.folder, yaml(stage), environment);
  open = process;
  await process.settle();
  return { process, stage, file: join(stage.folder, 'pigeonpost.yaml') };
}

const tryText = async ({ editions }: Running, text: string | null, item: TriedMapping['item'] = null) => {
  const name = item && { workspace: item.workspace, pigeonholeId: item.pigeonholeId, list: item.list, key: item.key };
  const tried = await tryMapping(editions.current, 'crm', { text, item: name }, { personal: true, environment });
  if ('unknown' in tried) throw new Error(tried.unknown);
  return tried;
};

const save = (process: Running, text: string, base: string, replaces: number | null = null) =>
  saveMappingDraft(process.editions.current, { sink: 'crm', text, base, replaces, by: 'a test' }, environment);
const applying = (process: Running) => ({ apply: () => process.apply(), environment });

describe('a mapping that withholds everything', () => {
  it('is tried with stored items, fixed, saved as a draft, planned, and written into the file with its comments', async () => {
    const { process, file } = await running();
    const before = await tryText(process, null);
    expect(before.counts).toMatchObject([{ list: 'attendees', items: 3, matching: 3, sent: 0, delivered: 0 }]);
    expect(before.warnings.join('\n')).toMatch(/item\.email.*seen: "Email"/);
    expect(before.items.map(({ result }) => result)).toEqual(['withhold', 'withhold', 'withhold']);
    expect(before.item).toMatchObject({ now: { kind: 'withhold' }, before: { kind: 'withhold' } });

    const tried = await tryText(process, right);
    expect(tried.counts).toMatchObject([{ items: 3, sent: 2, withheld: { 'no-match': 1 }, differing: 0 }]);
    expect(tried.item).toMatchObject({ now: { kind: 'send' }, before: { kind: 'withhold' } });
    expect(JSON.stringify(tried.item?.now)).toContain(
      String(tried.item?.sees?.['item'] && (tried.item.sees['item'] as { Email: string }).Email),
    );

    const own = await readFileMapping(process.editions.current, 'crm');
    if ('unknown' in own) throw new Error(own.unknown);
    const text = own.text.replace('item.email', 'item.Email');
    const saved = await save(process, text, own.text);
    const plan = await planConfiguration(process.editions.current, { draft: 'crm' }, environment);
    expect(plan.changes).toMatchObject([{ kind: 'changed', what: 'sink', name: 'crm' }]);
    expect(plan.deliveries).toMatchObject([{ cause: 'cured', changes: 2 }]);

    await applyDraft(process.editions.current, { sink: 'crm', version: saved.version }, applying(process));
    const written = readFileSync(file, 'utf8');
    expect(written).toContain('    # who becomes a contact\n    records:');
    expect(written).toContain('email: item.Email # the address');
    expect(written).toContain('token: ${HUBSPOT_TOKEN} # of the account');
    expect(await allDrafts(process.ledger)).toEqual([]);
    await process.settle();
    const again = await tryText(process, null);
    expect(again.counts).toMatchObject([{ sent: 2, delivered: 2, differing: 0 }]);
    const other = await tryText(
      process,
      right.replace('records:', 'records: # all').concat('      lastname: item.Name\n'),
    );
    expect(other.counts).toMatchObject([{ sent: 2, delivered: 2, differing: 2 }]);
  });

  it.each([
    ['a mistake in YAML', 'records:\n  - from: attendees\n   object: x\n', { line: 3 }],
    [
      'an expression that cannot be read',
      right.replace('item.Email', '$nothing(item.Email)'),
      { line: 6, key: 'records[0].properties.email' },
    ],
    ['another key of the sink', `${right}token: x\n`, { line: 8, key: 'token' }],
    ['an alias', right.replace('item.Email', '*address'), { line: 6, column: 14 }],
    ['a reference to a secret', right.replace('item.Email', '${OTHER_SECRET}'), { line: 6 }],
  ])('shows %s at its line, and is not saved', async (_, text, problem) => {
    const { process } = await running();
    const tried = await tryText(process, text);
    expect(tried.problems).toMatchObject([problem]);
    expect(JSON.stringify(tried)).not.toContain('other-secret-6620');
    await expect(save(process, text, wrong)).rejects.toMatchObject({ kind: 'unusable' });
  });
});

describe('a draft', () => {
  const base = (process: Running) =>
    readFileMapping(process.editions.current, 'crm').then((own) => ('text' in own ? own.text : ''));

  it('is refused if the file or another draft changed meanwhile, and then changes nothing', async () => {
    const { process, stage, file } = await running();
    const text = await base(process);
    const mine = text.replace('item.email', 'item.Email');
    const saved = await save(process, mine, text);
    await expect(save(process, mine, text)).rejects.toThrow('a test has saved another draft of sink crm meanwhile');
    await save(process, `${mine}# later\n`, text, saved.version);
    const version = saved.version + 1;
    await expect(
      applyDraft(process.editions.current, { sink: 'crm', version: saved.version }, applying(process)),
    ).rejects.toThrow('has saved another draft');

    process.write(yaml(stage).map((line) => line.replace('item.email', 'item.Mail')));
    const changed = readFileSync(file, 'utf8');
    expect((await listDrafts(process.editions.current)).drafts).toMatchObject([
      { conflict: expect.stringContaining('the mapping of sink crm in the file has changed') },
    ]);
    await expect(
      applyDraft(process.editions.current, { sink: 'crm', version }, applying(process)),
    ).rejects.toMatchObject({ kind: 'conflict' });
    expect(readFileSync(file, 'utf8')).toBe(changed);
  });

  it('leaves the earlier text in the file if the file cannot become the configuration', async () => {
    const { process, file } = await running();
    const text = await base(process);
    const saved = await save(process, text.replace('item.email', 'item.Email'), text);
    const before = readFileSync(file, 'utf8');
    const apply = async (): Promise<never> => {
      expect(readFileSync(file, 'utf8')).not.toBe(before);
      return await Promise.reject(new Error('not now'));
    };
    await expect(
      applyDraft(process.editions.current, { sink: 'crm', version: saved.version }, { apply, environment }),
    ).rejects.toThrow('not now');
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('is no longer listed once the file contains it', async () => {
    const { process, file } = await running();
    const text = await base(process);
    await save(process, text.replace('item.email', 'item.Email'), text);
    expect((await listDrafts(process.editions.current)).drafts).toHaveLength(1);
    writeFileSync(file, readFileSync(file, 'utf8').replace('item.email', 'item.Email'));
    chmodSync(file, 0o600);
    expect((await listDrafts(process.editions.current)).drafts).toEqual([]);
    const now = await base(process);
    await save(process, now.replace('item.Name', 'item.FirstName'), now); // the earlier one is not in the way
    expect((await listDrafts(process.editions.current)).drafts).toMatchObject([{ conflict: null }]);
  });

  it('stays in the file if the file became the configuration, and its application failed then', async () => {
    const { process, file } = await running();
    const text = await base(process);
    const saved = await save(process, text.replace('item.email', 'item.Email'), text);
    const apply = async (): Promise<never> => {
      await process.apply();
      throw new Error('the connection is lost');
    };
    await expect(
      applyDraft(process.editions.current, { sink: 'crm', version: saved.version }, { apply, environment }),
    ).rejects.toThrow('the connection is lost');
    expect(readFileSync(file, 'utf8')).toContain('email: item.Email');
    const again = await loadProcessConfig(file, environment);
    await expect(refuseOlderConfiguration(process.ledger, documentOf(again, process.ledger))).resolves.toBeUndefined();
  });
});
