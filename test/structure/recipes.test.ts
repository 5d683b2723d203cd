import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSink } from '../../delivering/open-sinks.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';
import { subjectOf } from '../../sinks/plan-of.test-kit.js';
import { sampleChange } from '../../sinks/sample-change.test-kit.js';
import { type CanvasDouble, startCanvasDouble } from '../../sandbox/canvas/start-canvas-double.js';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { DEFAULT_ACCOUNT, type LrsDouble, startLrsDouble } from '../../sandbox/lrs/start-lrs-double.js';
import { field } from '../../sandbox/salesforce/sobject-type.js';
import { type SalesforceDouble, startSalesforceDouble } from '../../sandbox/salesforce/start-salesforce-double.js';
import { DEFAULT_TOKEN, type SlackDouble, startSlackDouble } from '../../sandbox/slack/start-slack-double.js';

const page = readFileSync(join(__dirname, '../../docs/recipes.md'), 'utf8');
const recipes = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)]
  .map(([, text]) => text!)
  .filter((text) => !text.includes('type: postgres')); // test/scenarios/warehouse-recipe.test.ts runs that one

let hubspot: HubSpotDouble;
let salesforce: SalesforceDouble;
let slack: SlackDouble;
let lrs: LrsDouble;
let canvas: CanvasDouble;
let folder: string;

beforeAll(async () => {
  const key = (name: string) => field(name, { externalId: true, unique: true });
  hubspot = await startHubSpotDouble();
  salesforce = await startSalesforceDouble({
    instanceUrl: 'https://example.my.salesforce.com',
    fields: {
      Lead: [key('Engagement_Id__c')],
      Contact: [key('Engagement_Id__c')],
      Campaign: [key('Event_Id__c')],
      Task: [field('Engagement_Key__c', { externalId: true })],
    },
  });
  slack = await startSlackDouble({
    channels: [
      { id: 'C0123456789', name: 'questions' },
      { id: 'C0123456780', name: 'moderators' },
    ],
  });
  lrs = await startLrsDouble();
  canvas = await startCanvasDouble();
  folder = mkdtempSync(join(tmpdir(), 'recipes-'));
  writeFileSync(join(folder, 'sf.pem'), salesforce.org.privateKey!);
});
afterAll(async () => {
  await Promise.all([hubspot.close(), salesforce.close(), slack.close(), lrs.close(), canvas.close()]);
  rmSync(folder, { recursive: true });
});

/** The recipe unchanged, except for the vendors' addresses. */
async function load(recipe: string) {
  const file = join(folder, 'pigeonpost.yaml');
  const addresses: Readonly<Record<string, string>> = {
    hubspot: hubspot.url,
    salesforce: salesforce.url,
    slack: `${slack.url}/api`,
  };
  const replaced: Readonly<Record<string, string>> = {
    'https://lrs.example.com/xapi': lrs.endpoint,
    'https://canvas.example.com': canvas.url,
  };
  const text = recipe
    .replaceAll(/^( +)type: (\w+)$/gm, (line, indent: string, type: string) =>
      type in addresses ? `${line}\n${indent}baseUrl: ${addresses[type]!}` : line,
    )
    .replaceAll(/https:\/\/(?:lrs|canvas)\.example\.com\S*/g, (address) => replaced[address] ?? address)
    .replace('/run/secrets/sf.pem', join(folder, 'sf.pem'));
  writeFileSync(file, text);
  return await loadProcessConfig(file, {
    ENGAGEMENT_API_KEY: 'a-key',
    HUBSPOT_TOKEN: 'hubspot-token',
    SLACK_BOT_TOKEN: DEFAULT_TOKEN,
    LRS_KEY: DEFAULT_ACCOUNT.username,
    LRS_SECRET: DEFAULT_ACCOUNT.password,
    CANVAS_TOKEN: 'canvas-token',
    SF_CLIENT_ID: salesforce.org.clientId,
    SF_USERNAME: salesforce.org.username,
  });
}

const attendee = { id: 4711, Name: 'Ann Ray', Email: 'Ann@Example.com', Company: 'ACME', attendeeCode: '00123' };
const around = {
  attendee,
  session: { id: 5001, name: 'Keynote' },
  pigeonhole: { id: 101, name: 'Summit', startDate: '2026-11-21', timezone: 'Europe/Berlin' },
};
const items: Readonly<Record<string, Record<string, unknown>>> = {
  attendees: { ...attendee, signInTime: '2026-11-21T09:00:00Z' },
  registrants: { attendeeCode: '00123', Name: 'Ann Ray', Email: 'ann@example.com', signedInAt: null },
  'qna-questions': { id: 9001, content: 'When is lunch?', status: 'allowed', anonymous: false },
};

describe('docs/recipes.md', () => {
  it.each(recipes.map((recipe, at) => [at + 1, recipe] as const))(
    'has a recipe that its vendors accept unchanged: %d',
    async (_at, recipe) => {
      const config = await load(recipe);
      expect(config.warnings).toEqual([]);
      for (const name of Object.keys(config.sinks)) {
        const sink = createSink(config, name);
        try {
          const found = await sink.check(new AbortController().signal);
          expect(found.filter(({ ok }) => !ok)).toEqual([]);
        } finally {
          await sink.close();
        }
      }
    },
  );

  it('reads only fields that the service documents for a question', () => {
    const sections = recipes
      .flatMap((recipe) => recipe.split(/- (?:\{ )?from: /))
      .filter((each) => /^qna-questions\b/.test(each));
    const read = sections.flatMap((each) => [...each.matchAll(/\bitem\.(\w+)/g)].map(([, name]) => name));
    expect(read).toContain('content');
    const documented = ['id', 'content', 'status', 'createdAt', 'attendee', 'session'];
    expect(read.filter((name) => !documented.includes(name!))).toEqual([]);
  });

  it('produces output for each list that it names', async () => {
    const made: string[] = [];
    for (const recipe of recipes) {
      const config = await load(recipe);
      for (const name of Object.keys(config.sinks)) {
        const sink = createSink(config, name);
        const lists = [...new Set([...recipe.matchAll(/from: ([\w-]+)/g)].map(([, list]) => list!))];
        const changes = lists.map((list) => sampleChange({ list, key: list, data: items[list]! }));
        const planned = await sink.plan(changes.map((change) => subjectOf(change, around)));
        made.push(...planned.map((each, at) => `${name} ${lists[at]!} ${each.kind}`));
        await sink.close();
      }
    }
    expect(made.toSorted()).toEqual([
      'crm attendees send',
      'crm qna-questions send',
      'crm registrants send',
      'grades attendees send',
      'lms attendees send',
      'moderators qna-questions nothing', // it is already approved
      'salesforce attendees send',
      'salesforce qna-questions send',
      'speakers qna-questions send',
    ]);
  });
});
