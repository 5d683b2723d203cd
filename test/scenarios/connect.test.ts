import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConnectRequest, listSinkForms, saveSinkDraft, trySink } from '../../operations/drafts/connect-sink.js';
import { applyDraft, listDrafts } from '../../operations/drafts/drafts.js';
import { planConfiguration } from '../../operations/plan-configuration.js';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { type SlackDouble, startSlackDouble } from '../../sandbox/slack/start-slack-double.js';
import { attendee, qnaQuestion } from '../kit/items.js';
import { openRunning, type Running } from '../kit/running.js';
import { kinds } from '../kit/scenario-kinds.js';
import { useStages } from '../kit/stage.js';

const stages = useStages();
const environment = {
  SCENE_KEY: 'sandbox-key',
  SLACK_BOT_TOKEN: 'xoxb-double',
  SLACK_SECOND: 'xoxb-double',
  HUBSPOT_TOKEN: 'hubspot-token',
  OTHER_SECRET: 'other-secret-6620',
};

let slack: SlackDouble;
let hubspot: HubSpotDouble;
let process: Running;
let file: string;
beforeEach(async () => {
  [slack, hubspot] = await Promise.all([startSlackDouble({ profile: 'established' }), startHubSpotDouble()]);
  const stage = await stages.open(kinds[0]!);
  await stage.put('attendees', attendee(1), attendee(2));
  await stage.put('qna-questions', qnaQuestion(1, { id: 1 }, 1), qnaQuestion(2, { id: 2 }, 1, { status: 'pending' }));
  const lines = [
    `workspaces: { acme: { baseUrl: "${stage.sandbox.baseUrl}", apiKey: "\${SCENE_KEY}" } }`,
    'syncs: { events: { workspace: acme, sinks: [first, crm] } } # our events',
    'sinks:',
    '  first: # a stand-in',
    '    type: slack',
    '    token: ${SLACK_BOT_TOKEN}',
    `    baseUrl: "${slack.url}/api"`,
    '    channel: C0123456789',
    '    mode: observe',
    '    messages: [{ from: qna-questions, text: item.content }]',
    '  crm:',
    '    type: hubspot',
    '    token: ${HUBSPOT_TOKEN}',
    `    baseUrl: "${hubspot.url}"`,
    '    mode: observe',
    '    records: [{ from: attendees, object: contacts, match: [email], properties: { email: item.Email } }]',
  ];
  process = await openRunning(stage.db, stage.folder, lines, environment);
  file = join(stage.folder, 'pigeonpost.yaml');
  await process.settle();
});
afterEach(async () => {
  await process.close();
  await Promise.all([slack.close(), hubspot.close()]);
});

const asked = (given: ConnectRequest['given'], type = 'slack', name = 'new'): ConnectRequest => {
  return { type, name, sync: 'events', given };
};
const tried = (request: ConnectRequest) => trySink(process.editions.current, request, { personal: true, environment });

describe('connecting Slack', () => {
  it('lists the channels as soon as pigeonpost sees the token, then checks, proposes, previews and observes', async () => {
    const { types, syncs } = await listSinkForms(process.editions.current);
    expect(syncs).toEqual(['events']);
    expect(types.find(({ type }) => type === 'hubspot')).toMatchObject({ name: 'crm-2', title: 'HubSpot' });

    const first = await tried(asked({ token: 'SLACK_SECOND' }));
    expect(first).toMatchObject({ problems: [], checks: null, body: null });
    expect(first.secrets).toEqual([{ key: 'token', reference: '${SLACK_SECOND}', isSet: true }]);
    expect(first.choices['channel']).toMatchObject({
      kind: 'offered',
      items: [{ value: 'C0123456789', label: '#questions' }],
    });

    const request = asked({ token: 'SLACK_SECOND', channel: 'C0123456789' });
    const second = await tried(request);
    expect(second.checks).toContainEqual({ ok: true, warning: false, text: 'Slack accepts the token' });
    expect(second.tried?.counts).toMatchObject([
      { list: 'qna-questions', items: 2, sent: 1, withheld: { condition: 1 } },
    ]);
    expect(second.examples).toMatchObject([{ key: '1', now: { kind: 'send' }, before: null }]);
    expect(slack.state().channels.flatMap(({ messages }) => messages)).toEqual([]);

    const saved = await saveSinkDraft(process.editions.current, request, { by: 'a test', replaces: null, environment });
    expect(saved).toMatchObject({ kind: 'sink', sync: 'events', conflict: null });
    const plan = await planConfiguration(process.editions.current, { draft: 'new' }, environment);
    expect(plan.deliveries).toMatchObject([{ sink: 'new', observed: true, changes: 1 }]);
    const apply = (): ReturnType<Running['apply']> => process.apply();
    await applyDraft(process.editions.current, { sink: 'new', version: saved.version }, { apply, environment });
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('sinks: [first, crm, new] } } # our events');
    expect(text).toContain('  new: # messages of the approved questions\n    type: slack\n    mode: observe #');
    expect(text).not.toContain('xoxb-double');
    expect((await listDrafts(process.editions.current)).drafts).toEqual([]);
    await process.settle();
    expect(slack.state().channels.flatMap(({ messages }) => messages)).toEqual([]);
  });

  it('names a variable that pigeonpost does not see, and shows what the sink would receive all the same', async () => {
    const found = await tried(asked({ token: 'SLACK_MISSING', channel: 'C0123456789' }));
    expect(found).toMatchObject({ problems: [], checks: null, choices: {} });
    expect(found.secrets).toEqual([{ key: 'token', reference: '${SLACK_MISSING}', isSet: false }]);
    expect(found.tried?.counts).toMatchObject([{ sent: 1 }]);
  });

  it('sends no secret of the process anywhere else, and keeps none', async () => {
    const requests = slack.requests.length;
    for (const given of [
      { token: 'OTHER_SECRET' },
      { token: 'xoxb-pasted-1234' },
      { token: 'SLACK_SECOND', channel: '${OTHER_SECRET}' },
      { token: 'SLACK_SECOND', baseUrl: 'https://elsewhere.example.com' },
    ]) {
      const found = JSON.stringify(await tried(asked(given as unknown as ConnectRequest['given'])));
      expect(found).not.toMatch(/other-secret-6620|xoxb-pasted|elsewhere/);
    }
    const hosts = slack.requests.slice(requests).map(({ path }) => path);
    expect(hosts).toEqual(['/api/conversations.list']); // of the last one, at the address of the other sink
    await expect(
      saveSinkDraft(process.editions.current, asked({ token: 'OTHER_SECRET' }), {
        by: 'x',
        replaces: null,
        environment,
      }),
    ).rejects.toMatchObject({ kind: 'unusable' });
  });

  it.each([
    ['a name that is taken', { name: 'first' }, 'name'],
    ['a name that is no name', { name: 'a: {}' }, 'name'],
    ['a sync that does not exist', { sync: 'other' }, 'sync'],
  ])('refuses %s', async (_, wrong, key) => {
    const found = await tried({ ...asked({ token: 'SLACK_SECOND', channel: 'C0123456789' }), ...wrong });
    expect(found.problems).toEqual([{ key, message: expect.any(String) }]);
  });
});

describe('connecting a receiver', () => {
  it.each(['https://127.1:8443/x', 'https://localhost/', 'https://[::1]/', 'https://a b/'])(
    'does not call the machine itself at %s',
    async (url) => {
      const found = await tried(asked({ url, secret: 'HOOK_NEW' }, 'webhook'));
      expect(found.problems).toEqual([{ key: 'url', message: expect.any(String) }]);
      expect(found.checks).toBeNull();
    },
  );
});

describe('connecting HubSpot', () => {
  it('offers the properties that can be written, and maps those whose fields were seen', async () => {
    const found = await tried(asked({ token: 'HUBSPOT_TOKEN', properties: 'company,city' }, 'hubspot'));
    const { properties } = found.choices;
    if (properties?.kind !== 'offered') throw new Error(JSON.stringify(found));
    expect(properties.items.map(({ value }) => value)).toEqual(expect.arrayContaining(['company']));
    expect(properties.items.map(({ value }) => value)).not.toContain('email');
    expect(found.body).toContain('email: $email(item.Email)');
    expect(found.body).toContain('# city: item.…');
    expect(found.checks).toContainEqual(expect.objectContaining({ ok: true }));
  });
});
