import { laneStates } from '../../delivering/read-lanes.js';
import { ALL_SCOPES } from '../../sandbox/hubspot/account.js';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { useStages } from '../kit/stage.js';
import { statusOf } from '../kit/status-of.js';

const stages = useStages();
const scopes = ALL_SCOPES.filter((scope) => !scope.includes('marketing_events'));
let hubspot: HubSpotDouble;
beforeEach(async () => {
  hubspot = await startHubSpotDouble({ tokens: { 'hubspot-token': scopes } });
});
afterEach(() => hubspot.close());

const sink = () => `{ type: hubspot, token: "\${HUBSPOT_TOKEN}", baseUrl: "${hubspot.url}", records: [
      { from: attendees, object: contacts, match: [email], properties: { email: item.Email, firstname: item.Name } },
      { from: attendees, object: marketing-event, event: { name: pigeonhole.name, organizer: '"ACME"' },
        attendance: '"register"', email: item.Email } ] }`;

async function standingOf(scene: Scene) {
  const [crm] = (await statusOf(scene)).sinks;
  const lanes = await laneStates(scene.ledger, { sink: 'crm', workspace: null, after: null, limit: null });
  return { pause: crm!.pause, state: crm!.state, dead: crm!.dead, waitsFor: lanes.map(({ waitsFor }) => waitsFor) };
}

describe.each(kinds)('an object that HubSpot does not allow, on %s', (kind) => {
  it('waits with a reason while the sink continues, and is sent when the scope is granted', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1, {}), attendee(2, {}));
    const scene = await stage.scene({
      sinks: { crm: sink() },
      environment: { SCENE_KEY: 'sandbox-key', HUBSPOT_TOKEN: 'hubspot-token' },
    });
    await scene.settle();
    const { account } = hubspot;
    expect(account.portal.all(account.contacts)).toHaveLength(2);
    expect(await standingOf(scene)).toEqual({
      pause: null,
      state: expect.not.stringMatching('failing') as string,
      dead: {},
      waitsFor: expect.arrayContaining([
        expect.stringContaining('the key lacks the scope crm.objects.marketing_events'),
      ]) as string[],
    });
    account.tokens.set('hubspot-token', ALL_SCOPES);
    // Ten minutes later.
    await scene.ledger.db.query("update deliveries set due_at = now() where state = 'waiting'");
    await scene.ledger.db.query('update lanes set due_at = now()');
    await scene.settle();
    expect(
      account.marketingEvents.all().flatMap((event) => account.marketingEvents.participationsOf(event)),
    ).toHaveLength(2);
    expect((await standingOf(scene)).waitsFor.filter((each) => each !== null)).toEqual([]);
  });
});
