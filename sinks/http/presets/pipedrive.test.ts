import {
  eventField,
  type PipedriveDouble,
  startPipedriveDouble,
} from '../../../sandbox/pipedrive/start-pipedrive-double.js';
import { attendee, GuideSink, kinds } from '../guide.test-kit.js';

let pipedrive: PipedriveDouble;
let stage: GuideSink;

beforeEach(async () => {
  pipedrive = await startPipedriveDouble();
  stage = await GuideSink.open({
    page: 'pipedrive',
    replace: { 'https://acme.pipedrive.com': pipedrive.url },
    variables: { PIPEDRIVE_TOKEN: 'pipedrive-token' },
  });
});
afterEach(async () => {
  await stage.close();
  await pipedrive.close();
});

const ann = { id: 4711, Name: 'Ann Ray', Email: 'Ann@Example.com' };
const bob = { id: 4712, Name: 'Robert', Email: 'Bob@example.com' };
const people = () =>
  [...pipedrive.persons.values()].map(({ name, custom_fields: fields }) => [name, fields[eventField]]);

describe('docs/sinks/http/pipedrive.md', () => {
  it('creates new persons, and writes only the custom field of existing ones', async () => {
    expect(kinds(await stage.deliver([attendee('4711', ann), attendee('4712', bob)]))).toEqual([
      'delivered',
      'delivered',
    ]);
    expect(people()).toEqual([
      ['Bob B. Customer', 'Summit'],
      ['Ann Ray', 'Summit'],
    ]);
  });

  it('creates a person only once if the response was lost', async () => {
    pipedrive.faults.add({ effect: { kind: 'dropAfter' }, method: 'POST' });
    expect(kinds(await stage.deliver([attendee('4711', ann)]))).toEqual(['retry']);
    expect(kinds(await stage.deliver([attendee('4711', ann)]))).toEqual(['delivered']);
    expect(pipedrive.persons.size).toBe(2);
  });

  it('updates by id, and creates a person again if it was deleted in Pipedrive', async () => {
    await stage.deliver([attendee('4711', ann)]);
    const pigeonhole = { id: 102, name: 'Expo' };
    await stage.deliver([attendee('4711', { ...ann, Email: 'new@example.com' }, { revision: 2, pigeonhole })]);
    expect(people()).toContainEqual(['Ann Ray', 'Expo']);
    pipedrive.persons.delete(2);
    await stage.deliver([attendee('4711', ann, { revision: 3 })]);
    expect(people()).toContainEqual(['Ann Ray', 'Summit']);
    expect([...pipedrive.persons.keys()]).toEqual([1, 3]);
  });

  it('deletes persons that it created, and asks an operator about existing ones', async () => {
    await stage.deliver([attendee('4711', ann), attendee('4712', bob)]);
    const gone = await stage.deliver([
      attendee('4711', null, { revision: 2, removal: 'erased' }),
      attendee('4712', null, { revision: 2, removal: 'erased' }),
    ]);
    expect(gone).toMatchObject([{ kind: 'delivered' }, { kind: 'unplannable', cause: 'cannot-forget' }]);
    expect(people()).toEqual([['Bob B. Customer', 'Summit']]);
  });

  it('pauses with the reason if the account has reached a limit of its plan', async () => {
    const json = { success: false, error: 'Limit reached', code: 'feature_capping_deals' };
    pipedrive.faults.add({ effect: { kind: 'answer', answer: { status: 403, json } }, method: 'POST' });
    expect(await stage.deliver([attendee('4711', ann)])).toMatchObject([
      { kind: 'pause', detail: expect.stringMatching(/HTTP 403\): the account has reached a limit of its plan$/) },
    ]);
  });

  it('pauses with a wrong token without showing it', async () => {
    const wrong = await GuideSink.open({
      page: 'pipedrive',
      replace: { 'https://acme.pipedrive.com': pipedrive.url },
      variables: { PIPEDRIVE_TOKEN: 'another-token' },
    });
    const said = JSON.stringify([
      await wrong.deliver([attendee('4711', ann)]),
      await wrong.check(),
      await wrong.plan([attendee('4711', ann)]),
    ]);
    await wrong.close();
    expect(said).toContain('"pause"');
    expect(said).not.toContain('another-token');
    expect((await stage.check()).filter(({ ok }) => !ok)).toEqual([]);
  });
});
