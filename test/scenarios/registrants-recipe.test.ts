import { anyStore } from '../../ledger/drivers/both-databases.test-kit.js';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { HubSpotOptions } from '../../sandbox/hubspot/account.js';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { dropFoldersIn } from '../imports/desk.js';
import { useStages } from '../kit/stage.js';

/* Runs the recipe for registrants, unchanged except for addresses and the pigeonhole, in an account with contacts. */

interface Recipe {
  readonly imports: readonly { readonly folder: string; readonly map: Readonly<Record<string, string>> }[];
  readonly sinks: Readonly<Record<string, object>>;
}

const page = readFileSync(join(__dirname, '../../docs/recipes.md'), 'utf8');
const [, text] = /^## Registrants, the evening before$[^]*?^```yaml\n([^]*?)^```$/m.exec(page)!;
const recipe = parse(text!) as Recipe;

const stages = useStages();
let hubspot: HubSpotDouble;
/** Opens an account in which colleagues have entered two contacts. */
async function openAccount(options: HubSpotOptions = {}): Promise<void> {
  hubspot = await startHubSpotDouble(options);
  const { portal, contacts } = hubspot.account;
  portal.create(contacts, { email: 'ann@example.com', firstname: 'Annabel', lastname: 'Ray-Stone' });
  portal.create(contacts, { email: 'eve@example.com', firstname: 'Eve' });
}
afterEach(() => hubspot.close());

/** Returns contacts as `<e-mail> <first name> <last name>`. */
function people(): string[] {
  const { portal, contacts } = hubspot.account;
  return portal
    .all(contacts)
    .map(({ values }) => `${values.get('email')} ${values.get('firstname')} ${values.get('lastname') ?? '-'}`)
    .toSorted();
}

/** Returns the participants of the only marketing event as `<e-mail> <state>`. */
function attendance(): string[] {
  const { marketingEvents, portal, contacts } = hubspot.account;
  const events = marketingEvents.all();
  expect(events).toHaveLength(1);
  return marketingEvents
    .participationsOf(events[0]!)
    .map(({ contactId, state }) => `${portal.byId(contacts, contactId)?.values.get('email')} ${state}`)
    .toSorted();
}

/** Opens a stage with the recipe. `drop` puts a file of guests into its folder and delivers what it changes. */
async function openRecipe({ crm } = recipe.sinks) {
  const stage = await stages.open(anyStore);
  const scene = await stage.scene({
    sinks: { crm: JSON.stringify({ ...crm, baseUrl: hubspot.url }) },
    environment: { HUBSPOT_TOKEN: 'hubspot-token' },
  });
  await scene.settle();

  const [entry] = recipe.imports;
  const folder = join(stage.folder, entry!.folder);
  mkdirSync(folder);
  const folders = dropFoldersIn(scene, stage.folder, [{ workspace: 'acme', ...entry!, pigeonhole: 101 }]);
  let nowMs = 0;
  const drop = async (name: string, ...rows: string[]): Promise<void> => {
    writeFileSync(join(folder, name), ['Attendee code,Full name,Email', ...rows].join('\n'));
    for (let looks = 0; looks < 4; looks += 1) {
      await folders.look(nowMs);
      nowMs += 70_000; // longer than the wait until a file counts as complete
    }
    await stage.pollsAreDue();
    await scene.settle();
  };
  const dead = async () => await stage.db.query(`select reason, detail from deliveries where state = 'dead'`);
  return { stage, scene, drop, dead };
}

it('the recipe for registrants imports the guest list and adds it to an event without changing existing contacts', async () => {
  await openAccount();
  const { stage, scene, drop, dead } = await openRecipe();
  await drop('guests.csv', '001,Ann Ray,ann@example.com', '002,Bob Moss,Bob@Example.com');
  const expected = ['ann@example.com Annabel Ray-Stone', 'bob@example.com Bob Moss', 'eve@example.com Eve -'];
  expect(people()).toEqual(expected);
  expect(attendance()).toEqual(['ann@example.com REGISTERED', 'bob@example.com REGISTERED']);

  await drop(
    'guests-again.csv',
    '001,Ann Ray,ann@example.com',
    '002,Bob Moss,Bob@Example.com',
    '003,Cy Dale,cy@example.com',
  );
  const { attendeeId } = await stage.control('POST', 'sign-in', { pigeonhole: 101, attendeeCode: '002' });
  await stage.patch('attendees', attendeeId as number, { consent: { obtained: true } });
  await stage.pollsAreDue();
  await scene.settle();
  expect(people()).toEqual([...expected.slice(0, 2), 'cy@example.com Cy Dale', expected[2]]);
  expect(attendance()).toEqual(['ann@example.com REGISTERED', 'bob@example.com ATTENDED', 'cy@example.com REGISTERED']);
  expect(await dead()).toEqual([]);
});

/** The rows of the guide's table of names: required properties, and the expressions for both parts of a name. */
const nameRows = [
  ...readFileSync(join(__dirname, '../../docs/sinks/hubspot.md'), 'utf8').matchAll(
    /^\| (nothing, or the first name|the last name|both) \| `(.*)` \| `(.*)` \|$/gm,
  ),
].map(([, , firstname, lastname]) => ({ firstname: firstname!, lastname: lastname! }));

/** The recipe's sink with these expressions for names. */
function sinkWith(names: Readonly<Record<string, string>>) {
  const { records, ...rest } = recipe.sinks['crm'] as { readonly records: readonly object[] };
  return { crm: { ...rest, records: records.map((record) => ({ ...record, contactProperties: names })) } };
}

const guests = ['001,Ann,ann@example.com', '002,Cher,cher@example.com', '003,Bob Moss,bob@example.com'];

it.each([
  ['the first name', ['firstname'], nameRows[0]!, 'Cher -'],
  ['the last name', ['lastname'], nameRows[1]!, 'undefined Cher'],
  ['both names', ['firstname', 'lastname'], nameRows[2]!, '- Cher'],
] as const)('guests with a name of one word are registered in an account that requires %s', async (...row) => {
  const [, requiredOfContacts, names, cher] = row;
  await openAccount({ requiredOfContacts });
  const { drop, dead } = await openRecipe(sinkWith(names));
  await drop('guests.csv', ...guests);
  expect(await dead()).toEqual([]);
  expect(people()).toEqual([
    'ann@example.com Annabel Ray-Stone',
    'bob@example.com Bob Moss',
    `cher@example.com ${cher}`,
    'eve@example.com Eve -',
  ]);
  expect(attendance()).toEqual([
    'ann@example.com REGISTERED',
    'bob@example.com REGISTERED',
    'cher@example.com REGISTERED',
  ]);
});

it('the recipe as it is parks only such a guest where the last name is required, and says what is missing', async () => {
  await openAccount({ requiredOfContacts: ['lastname'] });
  const { drop, dead } = await openRecipe();
  await drop('guests.csv', ...guests);
  expect(await dead()).toEqual([
    { reason: 'hubspot:MISSING_REQUIRED_PROPERTY:lastname', detail: expect.stringContaining('lastname') },
  ]);
  expect(attendance()).toEqual(['ann@example.com REGISTERED', 'bob@example.com REGISTERED']);
});
