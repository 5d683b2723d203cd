import { randomUUID } from 'node:crypto';
import { planConfiguration } from '../../operations/plan-configuration.js';
import { previewSink } from '../../operations/preview-sink.js';
import { checkReady } from '../../operations/ready/check-ready.js';
import { startReplay } from '../../operations/start-replay.js';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { type Stage, useStages } from '../kit/stage.js';
import { starterOf } from '../kit/starter-of.js';
import { statusOf } from '../kit/status-of.js';

const stages = useStages();
const environment = { SCENE_KEY: 'sandbox-key', HUBSPOT_TOKEN: 'hubspot-token' };

let hubspot: HubSpotDouble;
beforeEach(async () => {
  hubspot = await startHubSpotDouble();
});
afterEach(() => hubspot.close());

const crm = (mode: string): string =>
  `{ type: hubspot, token: "\${HUBSPOT_TOKEN}", baseUrl: "${hubspot.url}", mode: ${mode}, records: [
    { from: attendees, object: contacts, match: [email], properties: { email: item.Email, firstname: $uppercase(item.Nick) } } ] }`;

const candidateOf = (stage: Stage, mode: string) => ({
  file: '/elsewhere/pigeonpost.yaml',
  text: `workspaces: { acme: { baseUrl: "${stage.sandbox.baseUrl}", apiKey: "\${SCENE_KEY}" } }
syncs: { events: { workspace: acme, sinks: [crm] } }
sinks:
  crm: ${crm(mode)}
`,
});

describe.each(kinds)('what a sink would receive, on %s', (kind) => {
  it('is the same for an observing sink, a preview, a readiness check, a dry run and a plan, and is what it then receives', async () => {
    const stage = await stages.open(kind);
    await stage.put(
      'attendees',
      attendee(1, { Nick: 'one' }),
      attendee(2, { Nick: 'two' }),
      attendee(3, { Nick: 'three', consent: { obtained: false } }),
      attendee(4, { Nick: 'four', Email: null }),
      attendee(5, { Nick: 5 }),
    );
    const observing = await stage.scene({ sinks: { crm: crm('observe') }, environment });
    await observing.settle();
    const { deps } = observing;
    const { observation } = (await statusOf(observing)).sinks[0]!;
    const [failure, ...others] = Object.keys(observation!.wouldWithhold).filter((reason) =>
      reason.startsWith('mapping'),
    );
    expect(others).toEqual([]);
    const withheld = { 'consent-refused': 1, 'no-match': 1 };
    expect(observation).toMatchObject({ wouldSend: 2, wouldSendAnonymously: 0, behind: 0 });
    expect(observation!.wouldWithhold).toEqual({ ...withheld, [failure!]: 1 });

    const asked = { sink: 'crm', list: 'attendees', pigeonhole: null, key: null, limit: 10, changedFrom: null };
    const preview = await previewSink(deps, { ...asked, configuration: candidateOf(stage, 'send') }, environment);
    if ('unknown' in preview) throw new Error(preview.unknown);
    expect(preview.counts).toEqual([{ list: 'attendees', items: 2, withheld, failed: 1, estimated: false }]);
    const kindsByKey = Object.fromEntries(preview.items.map(({ key, now }) => [key, now.kind]));
    expect(kindsByKey).toEqual({ 1: 'send', 2: 'send', 3: 'withhold', 4: 'withhold', 5: 'fail' });

    const { checks } = await checkReady(deps, { workspace: 'acme', pigeonholeId: 101 }, Date.now());
    const says = 'will send 2 attendees, withhold 2 (1 have refused, 1: no value to match by), the mapping fails for 1';
    expect(checks.consent).toMatchObject([{ id: 'consent:crm', state: 'warning', says }]);

    const replay = { id: randomUUID(), sink: 'crm', pigeonhole: null, lists: ['attendees' as const], from: null };
    expect(await startReplay({ deps, starter: starterOf(deps) }, { ...replay, dryRun: true })).toMatchObject({
      counts: [{ sink: 'crm', list: 'attendees', items: 2, withheld, failed: 1, estimated: false }],
    });

    const plan = await planConfiguration(deps, candidateOf(stage, 'send'), environment);
    expect(plan.deliveries).toMatchObject([{ cause: 'observed', changes: 2, estimated: false }]);

    const sending = await stage.scene({ sinks: { crm: crm('send') }, environment });
    await sending.settle();
    const sink = (await statusOf(sending)).sinks[0]!;
    expect([sink.delivered, sink.dead, sink.withheld]).toEqual([2, { [failure!]: 1 }, withheld]);
    expect(hubspot.account.portal.all(hubspot.account.contacts)).toHaveLength(2);
  });
});
