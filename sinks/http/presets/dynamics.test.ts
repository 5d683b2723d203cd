import { type DynamicsDouble, startDynamicsDouble } from '../../../sandbox/dynamics/start-dynamics-double.js';
import { attendee, GuideSink, kinds } from '../guide.test-kit.js';

let dynamics: DynamicsDouble;
let stage: GuideSink;

const openStage = (secret = 'dynamics-secret') =>
  GuideSink.open({
    page: 'dynamics',
    replace: {
      'baseUrl: https://acme.crm4.dynamics.com': `baseUrl: ${dynamics.url}`,
      'https://login.microsoftonline.com': dynamics.url,
    },
    variables: { DYNAMICS_SECRET: secret },
  });

beforeEach(async () => {
  dynamics = await startDynamicsDouble();
  stage = await openStage();
});
afterEach(async () => {
  await stage.close();
  await dynamics.close();
});

const ann = { id: 4711, Name: 'Ann Ray', Email: 'ann@example.com' };
const bob = { id: 4712, Name: 'Robert Customer', Email: "bob.o'c@example.com" };
const people = () =>
  [...dynamics.contacts.values()].map(({ firstname, lastname, acme_lastevent: event }) => [firstname, lastname, event]);

describe('docs/sinks/http/dynamics.md', () => {
  it('creates new contacts, and writes only the custom column of existing ones', async () => {
    const outcomes = await stage.deliver([attendee('4711', ann), attendee('4712', bob)]);
    expect(kinds(outcomes)).toEqual(['delivered', 'delivered']);
    expect(people()).toEqual([
      ['Bob', "O'Customer", 'Summit'],
      ['Ann', 'Ray', 'Summit'],
    ]);
  });

  it('rejects a name that is longer than its column, and creates the others', async () => {
    const long = { id: 4713, Name: `Cam ${'x'.repeat(51)}`, Email: 'cam@example.com' };
    expect(await stage.deliver([attendee('4713', long), attendee('4711', ann)])).toMatchObject([
      { kind: 'rejected', cause: 'http:400' },
      { kind: 'delivered' },
    ]);
    expect(people()).toHaveLength(2);
  });

  it('creates a contact only once if the response was lost', async () => {
    dynamics.faults.add({ effect: { kind: 'dropAfter' }, method: 'POST', path: '/contacts' });
    expect(kinds(await stage.deliver([attendee('4711', ann)]))).toEqual(['retry']);
    expect(kinds(await stage.deliver([attendee('4711', ann)]))).toEqual(['delivered']);
    expect(dynamics.contacts.size).toBe(2);
  });

  it('updates by id, and creates a contact again if it was deleted in Dynamics', async () => {
    await stage.deliver([attendee('4711', ann)]);
    const [, contact] = [...dynamics.contacts.keys()];
    await stage.deliver([attendee('4711', ann, { revision: 2, pigeonhole: { id: 102, name: 'Expo' } })]);
    expect(people()).toContainEqual(['Ann', 'Ray', 'Expo']);
    dynamics.contacts.delete(contact!);
    await stage.deliver([attendee('4711', ann, { revision: 3 })]);
    expect(people()).toContainEqual(['Ann', 'Ray', 'Summit']);
  });

  it('deletes contacts that it created, and asks an operator about existing ones', async () => {
    await stage.deliver([attendee('4711', ann), attendee('4712', bob)]);
    const gone = await stage.deliver([
      attendee('4711', null, { revision: 2, removal: 'erased' }),
      attendee('4712', null, { revision: 2, removal: 'erased' }),
    ]);
    expect(gone).toMatchObject([{ kind: 'delivered' }, { kind: 'unplannable', cause: 'cannot-forget' }]);
    expect(people()).toEqual([['Bob', "O'Customer", 'Summit']]);
  });

  it('waits as long as Dataverse requests, and pauses on a wrong secret without showing it', async () => {
    const throttled = { status: 429, headers: { 'retry-after': '20' }, json: { error: { code: '0x80072322' } } };
    dynamics.faults.add({ effect: { kind: 'answer', answer: throttled }, path: '/contacts' });
    expect(await stage.deliver([attendee('4711', ann)])).toMatchObject([{ kind: 'retry', afterMs: 20_000 }]);
    const wrong = await openStage('another-secret');
    const said = JSON.stringify([await wrong.deliver([attendee('4711', ann)]), await wrong.check()]);
    await wrong.close();
    expect(said).toContain('"pause"');
    expect(said).not.toContain('another-secret');
  });

  it('passes its check', async () => {
    expect((await stage.check()).filter(({ ok }) => !ok)).toEqual([]);
  });
});
