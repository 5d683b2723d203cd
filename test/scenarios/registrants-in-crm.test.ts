import { kinds } from '../kit/scenario-kinds.js';
import { field } from '../../sandbox/salesforce/sobject-type.js';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { type SalesforceDouble, startSalesforceDouble } from '../../sandbox/salesforce/start-salesforce-double.js';
import { finish, type Profile, rowsOf, stage as stageImport } from '../imports/importing.js';
import type { Scene } from '../kit/scene.js';
import { type Stage, useStages } from '../kit/stage.js';

/** Tests `from: registrants`: people who are imported, sign in, and change their consent, and no-shows. */
const stages = useStages();
let hubspot: HubSpotDouble;
let salesforce: SalesforceDouble;

beforeEach(async () => {
  const key = (name: string) => field(name, { externalId: true, unique: true });
  hubspot = await startHubSpotDouble();
  salesforce = await startSalesforceDouble({
    fields: { Lead: [key('Code__c')], Contact: [key('Code__c')], Campaign: [key('Event_Id__c')] },
  });
});
afterEach(async () => {
  await hubspot.close();
  await salesforce.close();
});

const terms = 'consent: { accept: [obtained, not-known] }, onConsentWithdrawn: forget';

async function openCrms(stage: Stage): Promise<Scene> {
  return await stage.scene({
    sinks: {
      hubspot: `{ type: hubspot, token: "\${HUBSPOT_TOKEN}", baseUrl: "${hubspot.url}", ${terms}, records: [
        { from: registrants, object: marketing-event, event: { name: pigeonhole.name, organizer: '"ACME"' },
          attendance: 'item.signedInAt ? "attend" : "register"', email: $lowercase(item.Email), contactProperties: { firstname: item.Name } } ] }`,
      salesforce: `{ type: salesforce, clientId: "${salesforce.org.clientId}", username: "${salesforce.org.username}",
        privateKey: "\${SF_KEY}", baseUrl: "${salesforce.url}", loginUrl: "${salesforce.url}", ${terms}, records: [
        { from: registrants, object: Lead, externalId: { Code__c: item.attendeeCode },
          properties: { Email: item.Email, LastName: item.Name, Company: '"unknown"' },
          campaign: { externalId: { Event_Id__c: $string(pigeonhole.id) },
            status: { registered: Registered, attended: Attended } } } ] }`,
    },
    environment: { HUBSPOT_TOKEN: 'hubspot-token', SF_KEY: salesforce.org.privateKey! },
  });
}

/** Returns e-mails with their state in HubSpot's marketing event. */
function attendance(): string[] {
  const { account } = hubspot;
  return account.marketingEvents
    .all()
    .flatMap((event) => account.marketingEvents.participationsOf(event))
    .map(({ contactId, state }) => {
      const email = account.portal.byId(account.contacts, contactId)?.values.get('email');
      return `${String(email)} ${state}`;
    })
    .toSorted();
}

/** Returns the names of leads with their status in Salesforce's campaign. */
function members(): string[] {
  const { org } = salesforce.org;
  const all = (name: string): readonly { readonly id: string; readonly values: Readonly<Record<string, unknown>> }[] =>
    org.all(org.types.find((type) => type.name === name)!);
  const names = new Map(all('Lead').map(({ id, values }) => [id, values['LastName']]));
  return all('CampaignMember')
    .map(({ values }) => `${String(names.get(values['LeadId'] as string))} ${String(values['Status'])}`)
    .toSorted();
}

const person = (attendeeCode: string, Name: string): Profile => ({
  attendeeCode,
  Name,
  Email: `${Name}@Example.com`,
});

describe.each(kinds)('registrants in a CRM, on %s', (kind) => {
  it('are "registered" after the import, "attended" after sign-in, and removed when they refuse consent', async () => {
    const stage = await stages.open(kind);
    const scene = await openCrms(stage);
    await scene.settle();
    await finish(scene, await stageImport(scene, rowsOf(person('001', 'Ann'), person('002', 'Bob'))));
    await scene.settle();
    expect(attendance()).toEqual(['ann@example.com REGISTERED', 'bob@example.com REGISTERED']);
    expect(members()).toEqual(['Ann Registered', 'Bob Registered']);

    const signedIn = await stage.control('POST', 'sign-in', { pigeonhole: 101, attendeeCode: '002' });
    const id = signedIn['attendeeId'] as number;
    await stage.patch('attendees', id, { consent: { obtained: true, obtainedAt: '2026-11-21T08:00:00Z' } });
    await stage.pollsAreDue();
    await scene.settle();
    expect(attendance()).toEqual(['ann@example.com REGISTERED', 'bob@example.com ATTENDED']);
    expect(members()).toEqual(['Ann Registered', 'Bob Attended']);

    await stage.patch('attendees', id, { consent: { obtained: false } });
    await stage.pollsAreDue();
    await scene.settle();
    expect(attendance()).toEqual(['ann@example.com REGISTERED', 'bob@example.com CANCELLED']);
    expect(members()).toEqual(['Ann Registered']);
    const dead = await stage.db.query(`select reason, detail from deliveries where state = 'dead'`);
    expect(dead).toEqual([
      { reason: 'hubspot:forget-by-hand', detail: expect.stringMatching(/may have created contacts \d+:/) as string },
    ]);
    expect(`${scene.logText()} ${JSON.stringify(dead)}`).not.toMatch(/Bob|Ann|example\.com/i);
  });
});
