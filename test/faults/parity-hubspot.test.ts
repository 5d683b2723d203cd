import { ALL_SCOPES } from '../../sandbox/hubspot/account.js';
import type { CrmRecord } from '../../sandbox/hubspot/portal.js';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { audit, findingTexts, parityCounts, repair } from '../kit/audit.js';
import { askToForget, forget } from '../kit/forget.js';
import { attendee, qnaQuestion, session } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { everyone, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
/** Number of people. `PARITY_ITEMS=10000` makes the test take a minute. */
const people = Number(process.env['PARITY_ITEMS'] ?? 300);
/** Maximum time of the test with many people. */
const longMs = 600_000;

let hubspot: HubSpotDouble;

beforeEach(async () => {
  // A professional account has 190 requests in ten seconds. The window is shorter here.
  hubspot = await startHubSpotDouble({ per10s: 190, windowMs: 1000, profile: 'withoutRules' });
});
afterEach(() => hubspot.close());

const records = `[
  { from: attendees, object: contacts, match: [email], properties: { email: $email(item.Email),
      firstname: { value: item.Name, write: if-empty }, company: item.Company } },
  { from: attendees, object: marketing-event, event: { name: pigeonhole.name, organizer: '"ACME"' },
      attendance: 'item.signInTime ? "attend" : "register"', email: $email(item.Email) },
  { from: qna-questions, object: notes, email: $email(attendee.Email), properties: { hs_note_body: item.content } } ]`;

async function sceneWith(stage: Stage, more = '') {
  const sink = `{ type: hubspot, token: "\${HUBSPOT_TOKEN}", baseUrl: "${hubspot.url}", limits: { per10s: 1900 }, ${everyone},
    ${more} records: ${records} }`;
  return await stage.scene({
    sinks: { crm: sink.replaceAll('\n', ' ') },
    environment: { HUBSPOT_TOKEN: 'hubspot-token' },
  });
}

function contactOf(id: number): CrmRecord {
  const { portal, contacts } = hubspot.account;
  return portal.byUnique(contacts, 'email', `person-${id}@example.com`)!;
}

/** Returns all contacts, notes and participations, as text by id. */
function contents(): Map<string, string> {
  const { portal, types, marketingEvents } = hubspot.account;
  const participations = marketingEvents.all().flatMap((event) => marketingEvents.participationsOf(event));
  return new Map([
    ...types.flatMap((type) =>
      portal
        .all(type)
        .map(
          (record) =>
            [
              `${type.name} ${record.id}`,
              JSON.stringify([...record.values].toSorted(([a], [b]) => a.localeCompare(b))),
            ] as const,
        ),
    ),
    ...participations.map(({ contactId, state }) => [`participation ${contactId}`, state] as const),
  ]);
}

describe.each(kinds)('an audit of HubSpot, on %s', (kind) => {
  it(
    'finds every planted difference among many people and invents none; a repair touches nothing else',
    async () => {
      const stage = await stages.open(kind);
      for (let first = 1; first <= people; first += 100) {
        const some = Array.from({ length: 100 }, (_, at) => attendee(first + at, { Company: 'Acme' }));
        await stage.put('attendees', ...some);
      }
      await stage.put('sessions', session(1, { anonymousResponses: false }));
      const scene = await sceneWith(stage);
      await scene.settle();
      await stage.patch('attendees', 3, { Company: 'New' });
      for (let sweeps = 0; sweeps < 2; sweeps += 1) {
        await stage.sweepsAreDue();
        await scene.settle();
      }
      expect(contactOf(3).values.get('company')).toBe('New');
      await audit(scene, 'crm');
      expect(await findingTexts(scene, 'crm')).toEqual([]);
      expect(await parityCounts(scene, 'crm')).toMatchObject({ same: people, undelivered: 0 });

      const { account } = hubspot;
      const before = contents();
      const deleted = contactOf(1);
      account.portal.archive(deleted); // deleted by a colleague
      account.portal.update(contactOf(2), { company: 'Edited', phone: '12345' });
      account.portal.update(contactOf(3), { company: 'Acme' }); // one revision behind
      const kept = account.portal.create(account.contacts, { email: 'kept@example.com', company: 'Other' });
      account.mergeContacts(kept, contactOf(4));
      account.portal.update(contactOf(5), { firstname: 'Other name', website: 'example.com' }); // left to the colleague
      const [event] = account.marketingEvents.all();
      account.marketingEvents.record(event!, contactOf(6).id, 'CANCELLED', Date.now());
      const planted = contents();
      const requests = hubspot.requests.length;
      await audit(scene, 'crm');
      expect(await findingTexts(scene, 'crm')).toEqual([
        'changed attendees:1 contacts', // its participation is still there
        'changed attendees:2 contacts.company',
        'changed attendees:4 contacts.id,contacts.firstname,contacts.company',
        'changed attendees:6 marketing-event.attendance',
        'stale attendees:3 contacts.company',
      ]);
      const { same } = await parityCounts(scene, 'crm');
      expect(same).toBe(people - 5);
      // A read for each hundred contacts, a page for each hundred participations, and a few for what differs.
      expect(hubspot.requests.length - requests).toBeLessThan(2 * (people / 100) + 60);

      await repair(scene, 'crm');
      expect(await findingTexts(scene, 'crm')).toEqual([]);
      await audit(scene, 'crm');
      expect(await parityCounts(scene, 'crm')).toMatchObject({ same: people });
      expect(hubspot.requests.filter(({ status }) => status === 429)).toEqual([]);
      const after = contents();
      const touched = [...after].filter(([name, text]) => planted.get(name) !== text).map(([name]) => name);
      const repaired = [2, 3, 6].map((id) => contactOf(id).id);
      const created = contactOf(1).id;
      expect(touched.toSorted()).toEqual(
        [
          ...repaired.slice(0, 2).map((id) => `contacts ${id}`),
          `contacts ${kept.id}`,
          `contacts ${created}`,
          `participation ${created}`,
          `participation ${repaired[2]}`,
        ].toSorted(),
      );
      expect(contactOf(2).values.get('phone')).toBe('12345');
      expect(after.get(`contacts ${repaired[1]}`)).toBe(before.get(`contacts ${repaired[1]}`));
      const stored = await stage.db.query('select p::text as p, f::text as f from parity_passes p, parity_findings f');
      expect(`${JSON.stringify(stored)}${scene.logText()}`).not.toMatch(/Edited|person-2@|Other name/);
    },
    longMs,
  );

  it('finds copies of notes, records of removed items, and what a missing scope hides', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', ...[1, 2, 3].map((id) => attendee(id)));
    const ask = (id: number) => qnaQuestion(id, { id: 1, anonymous: false }, 1, { content: `Question ${id}` });
    await stage.put('qna-questions', ...[21, 22, 23].map(ask));
    const scene = await sceneWith(stage, 'onForget: delete,');
    await scene.settle();
    const { account } = hubspot;
    const notes = account.type('notes');
    expect(account.portal.all(notes)).toHaveLength(3);
    const [first, second, third] = account.portal.all(notes);
    const copy = account.portal.create(notes, Object.fromEntries(first!.values));
    const contact = { toType: 'contacts', toId: contactOf(1).id, category: 'HUBSPOT_DEFINED', typeId: 202 } as const;
    account.associations.add({ fromType: 'notes', fromId: copy.id, ...contact });
    account.portal.archive(second!);
    await audit(scene, 'crm');
    expect(await findingTexts(scene, 'crm')).toEqual([`extra qna-questions:21 ${copy.id}`, 'missing qna-questions:22']);
    await repair(scene, 'crm');
    expect(await findingTexts(scene, 'crm')).toEqual([]);
    expect(account.portal.all(notes)).toHaveLength(3);

    await forget(stage, scene, await askToForget(scene, { by: 'id', text: '2' }));
    await stage.remove('qna-questions', 23);
    await stage.sweepsAreDue();
    await scene.settle();
    await stage.sweepsAreDue();
    await scene.settle();
    expect(account.portal.all(notes)).not.toContain(third);
    await audit(scene, 'crm');
    expect(await findingTexts(scene, 'crm')).toEqual([]);

    account.tokens.set(
      'hubspot-token',
      ALL_SCOPES.filter((scope) => scope !== 'crm.objects.contacts.read'),
    );
    await audit(scene, 'crm');
    expect((await parityCounts(scene, 'crm')).unreadable).toBeGreaterThan(2);
  });
});
