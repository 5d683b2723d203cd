import { kinds } from '../kit/scenario-kinds.js';
import { deadLetterGroups, redriveDeadLetters } from '../../ledger/queries/dead-letters.js';
import { planConfiguration } from '../../worker/plan-configuration.js';
import { previewSink } from '../../worker/preview-sink.js';
import { type HubSpotDouble, startHubSpotDouble } from '../doubles/hubspot/start-hubspot-double.js';
import { attendee } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const environment = { SCENE_KEY: 'sandbox-key', HUBSPOT_TOKEN: 'hubspot-token' };
/** Fails for whoever has a number in the place of a nickname. */
const failing = '$uppercase(item.Nick)';
const mended = '$uppercase($string(item.Nick))';

let hubspot: HubSpotDouble;
beforeEach(async () => {
  hubspot = await startHubSpotDouble();
});
afterEach(() => hubspot.close());

function crm(firstname: string): string {
  return `{ type: hubspot, token: "\${HUBSPOT_TOKEN}", baseUrl: "${hubspot.url}", records: [
    { from: attendees, object: contacts, match: [email], properties: { email: item.Email, firstname: '${firstname}' } } ] }`;
}

async function sceneWith(stage: Stage, firstname: string): Promise<Scene> {
  return await stage.scene({ sinks: { crm: crm(firstname) }, environment });
}

/** Of everyone with a nickname, what stands in the CRM. */
function firstNames(): unknown[] {
  const { account } = hubspot;
  return account.portal.all(account.contacts).map(({ values }) => values.get('firstname'));
}

async function putPeople(stage: Stage): Promise<void> {
  await stage.put(
    'attendees',
    ...Array.from({ length: 300 }, (_, index) => attendee(index + 1, { Nick: index % 100 === 50 ? 7 : `n${index}` })),
  );
}

describe.each(kinds)('a mapping that fails for one item of a hundred, on %s', (kind) => {
  it('delivers the others, parks these under one cause, and one command drains them once it is mended', async () => {
    const stage = await stages.open(kind);
    await putPeople(stage);
    const before = await sceneWith(stage, failing);
    await before.settle();
    expect(firstNames()).toHaveLength(297);
    const [group, ...others] = await deadLetterGroups(before.ledger, {});
    expect(others).toEqual([]);
    expect(group).toMatchObject({ sink: 'crm', list: 'attendees', changes: 3 });
    expect(group!.cause).toMatch(/^mapping: crm\.records\[0\]\.properties\.firstname: [A-Z]\d{4}$/);
    expect(group!.detail).toMatch(/line \d+ of the configuration\) for attendees:\d+ failed/);

    expect(await redriveDeadLetters(before.ledger, { sink: 'crm' })).toMatchObject({ changes: 3 });
    await before.settle(); // nothing is mended, so they are parked again
    expect((await deadLetterGroups(before.ledger, {}))[0]).toMatchObject({ changes: 3 });

    const after = await sceneWith(stage, mended);
    await after.settle(); // applying the mended mapping is that command
    expect(await deadLetterGroups(after.ledger, {})).toEqual([]);
    expect(firstNames()).toHaveLength(300);
    expect(firstNames().filter((name) => name === '7')).toHaveLength(3);
  });

  it('is shown by a preview before anything is sent, also what another mapping would change', async () => {
    const stage = await stages.open(kind);
    await putPeople(stage);
    const scene = await sceneWith(stage, failing);
    await scene.settle();
    const ask = { sink: 'crm', list: 'attendees', pigeonhole: null, key: null, limit: 5 };
    const requests = hubspot.requests.length;
    const text = (firstname: string): string =>
      [
        `workspaces: { acme: { baseUrl: "${stage.sandbox.baseUrl}", apiKey: "\${SCENE_KEY}" } }`,
        'syncs: { events: { workspace: acme, sinks: [crm] } }',
        `sinks:\n  crm: ${crm(firstname)}`,
      ].join('\n');
    const candidate = (firstname: string) => ({ file: '/elsewhere/pigeonpost.yaml', text: text(firstname) });
    const shown = await previewSink(
      scene.to,
      { ...ask, configuration: candidate(mended), changedFrom: candidate(failing) },
      environment,
    );
    if ('unknown' in shown) throw new Error(shown.unknown);
    expect(shown.items.map(({ key }) => Number(key)).toSorted((a, b) => a - b)).toEqual([51, 151, 251]);
    for (const { now, before } of shown.items) expect([now.kind, before?.kind]).toEqual(['send', 'fail']);
    const plan = await planConfiguration(scene.to, candidate(mended), environment);
    expect(plan.deliveries).toMatchObject([{ sink: 'crm', list: 'attendees', cause: 'redriven', changes: 3 }]);
    expect(hubspot.requests).toHaveLength(requests);
  });
});
