import { writeFileSync } from 'node:fs';
import { delayedDatabase } from '../kit/held-database.js';
import { apiOf } from '../kit/api-of.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Database } from '../../ledger/drivers/database.js';
import type { SinkView } from '../../operations/status-view.js';
import { deadLetterGroups, redriveDeadLetters } from '../../delivering/dead-letters.js';
import { laneStates } from '../../delivering/read-lanes.js';
import { planConfiguration } from '../../operations/plan-configuration.js';
import { previewSink } from '../../operations/preview-sink.js';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { attendee, qnaQuestion, session } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { statusOf } from '../kit/status-of.js';

const stages = useStages();
const environment = { SCENE_KEY: 'sandbox-key', HUBSPOT_TOKEN: 'hubspot-token' };
/** Fails for every attendee whose nickname is a number. */
const failing = '$uppercase(item.Nick)';
const mended = '$uppercase($string(item.Nick))';

let hubspot: HubSpotDouble;
beforeEach(async () => {
  hubspot = await startHubSpotDouble();
});
afterEach(() => hubspot.close());

function crm(firstname: string, email = 'item.Email'): string {
  return `{ type: hubspot, token: "\${HUBSPOT_TOKEN}", baseUrl: "${hubspot.url}", records: [
    { from: attendees, object: contacts, match: [email], properties: { email: ${email}, firstname: '${firstname}' } } ] }`;
}

/** Returns a configuration file with this sink. */
function candidateOf(stage: Stage, sink: string): { file: string; text: string } {
  return candidateWith(stage, { crm: sink });
}

function candidateWith(stage: Stage, sinks: Readonly<Record<string, string>>): { file: string; text: string } {
  const text = [
    `workspaces: { acme: { baseUrl: "${stage.sandbox.baseUrl}", apiKey: "\${SCENE_KEY}" } }`,
    `syncs: { events: { workspace: acme, sinks: [${Object.keys(sinks).join(', ')}] } }`,
    'sinks:',
    ...Object.entries(sinks).map(([name, sink]) => `  ${name}: ${sink}`),
  ].join('\n');
  return { file: '/elsewhere/pigeonpost.yaml', text };
}

async function sinkOf(scene: Scene): Promise<SinkView> {
  return (await statusOf(scene)).sinks[0]!;
}

async function sceneWith(stage: Stage, firstname: string): Promise<Scene> {
  return await stage.scene({ sinks: { crm: crm(firstname) }, environment });
}

/** Returns the first names of the contacts in the CRM. */
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
  it('delivers the others, parks the failing ones under one cause, and drains them with one command after the fix', async () => {
    const stage = await stages.open(kind);
    await putPeople(stage);
    const before = await sceneWith(stage, failing);
    await before.settle();
    expect(firstNames()).toHaveLength(297);
    const [group, ...others] = await deadLetterGroups(before.ledger, {});
    expect(others).toEqual([]);
    expect(group).toMatchObject({ sink: 'crm', list: 'attendees', changes: 3 });
    expect(group!.cause).toMatch(/^mapping: crm\.records\[0\]\.properties\.firstname: [A-Z]\d{4}$/);
    expect((await statusOf(before)).problems).toMatchObject([
      { code: 'dead-letters', title: 'The mapping of sink crm failed on 3 changes' },
    ]);
    expect(group!.detail).toMatch(/line \d+ of the configuration\) for attendees:\d+ failed/);

    expect(await redriveDeadLetters(before.ledger, { sink: 'crm' })).toMatchObject({ changes: 3 });
    await before.settle(); // nothing is fixed, so they are parked again
    expect((await deadLetterGroups(before.ledger, {}))[0]).toMatchObject({ changes: 3 });

    const after = await sceneWith(stage, mended);
    await after.settle(); // applying the fixed mapping is that command
    expect(await deadLetterGroups(after.ledger, {})).toEqual([]);
    expect(firstNames()).toHaveLength(300);
    expect(firstNames().filter((name) => name === '7')).toHaveLength(3);
  });

  it('is shown by a preview before anything is sent, with the effect of another mapping', async () => {
    const stage = await stages.open(kind);
    await putPeople(stage);
    const scene = await sceneWith(stage, failing);
    await scene.settle();
    const ask = { sink: 'crm', list: 'attendees', pigeonhole: null, key: null, limit: 5 };
    const requests = hubspot.requests.length;
    const candidate = (firstname: string) => candidateOf(stage, crm(firstname));
    const shown = await previewSink(
      scene.deps,
      { ...ask, configuration: candidate(mended), changedFrom: candidate(failing) },
      environment,
    );
    if ('unknown' in shown) throw new Error(shown.unknown);
    expect(shown.items.map(({ key }) => Number(key)).toSorted((a, b) => a - b)).toEqual([51, 151, 251]);
    for (const { now, before } of shown.items) expect([now.kind, before?.kind]).toEqual(['send', 'fail']);
    const plan = await planConfiguration(scene.deps, candidate(mended), environment);
    expect(plan.deliveries).toMatchObject([{ sink: 'crm', list: 'attendees', cause: 'redriven', changes: 3 }]);
    expect(hubspot.requests).toHaveLength(requests);
  });
});

describe.each(kinds)('a preview of many items with a slow mapping, on %s', (kind) => {
  it('plans a part of them, counts all of them, and says that the counts are estimated', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...Array.from({ length: 2500 }, (_, index) => attendee(index + 1)));
    const scene = await sceneWith(stage, '$string($sum([1..2000])) & item.Name');
    await scene.discover();
    await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    const asked = { sink: 'crm', list: 'attendees', pigeonhole: null, key: null, limit: 1, changedFrom: null } as const;
    const shown = await previewSink(scene.deps, { ...asked, configuration: {} }, environment);
    if ('unknown' in shown) throw new Error(shown.unknown);
    expect(shown.items).toHaveLength(1);
    expect(shown.counts).toEqual([{ list: 'attendees', items: 2500, withheld: {}, failed: 0, estimated: true }]);
  });
});

describe.each(kinds)('the preview of an http sink, on %s', (kind) => {
  it('shows every field of the body, whatever its name', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    const scene = await sceneWith(stage, 'item.Name');
    await scene.settle();
    const http = `{ type: http, baseUrl: "http://127.0.0.1:9", records: [{ from: attendees,
      create: { url: '"/people"', body: '{ "kind": "person", "sinceMs": 5 }', idFrom: body.id } }] }`;
    const ask = { sink: 'crm', list: null, pigeonhole: null, key: null, limit: 1, changedFrom: null };
    const shown = await previewSink(scene.deps, { ...ask, configuration: candidateOf(stage, http) }, environment);
    if ('unknown' in shown) throw new Error(shown.unknown);
    expect(shown.items[0]!.now).toMatchObject({
      kind: 'send',
      calls: [{ method: 'POST', address: 'http://127.0.0.1:9/people', body: { kind: 'person', sinceMs: 5 } }],
    });
  });
});

describe.each(kinds)('a condition that reads a field by a misspelled name, on %s', (kind) => {
  const withCondition = (when: string, mode = 'send'): string =>
    `{ type: hubspot, token: "\${HUBSPOT_TOKEN}", baseUrl: "${hubspot.url}", mode: ${mode}, records: [
    { from: attendees, object: contacts, match: [email], when: '${when}', properties: { email: item.Email } } ] }`;

  it('is a problem that names the field; a correct condition that excludes everyone is not', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...Array.from({ length: 20 }, (_, index) => attendee(index + 1, { Country: 'NO' })));
    const wrong = await stage.scene({ sinks: { crm: withCondition('item.Contry = "NO"') }, environment });
    await wrong.settle();
    expect((await sinkOf(wrong)).withholding).toEqual([
      {
        list: 'attendees',
        kind: 'all',
        text: 'all 20 attendees fail the condition crm.records[0].when, which reads item.Contry; fields seen: "Country"',
      },
    ]);
    const strict = await stage.scene({ sinks: { crm: withCondition('item.Country = "SE"') }, environment });
    await strict.settle();
    expect(await sinkOf(strict)).toMatchObject({ withheld: { condition: 20 }, withholding: [] });
  });

  it.each([
    ['a correct condition', 'item.Country = "SE"', []],
    ['another mistake', 'item.Contri = "NO"', [expect.stringContaining('reads item.Contri')]],
  ])('is no problem from the moment at which %s is applied', async (_, when, after) => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...Array.from({ length: 20 }, (_each, n) => attendee(n + 1, { Country: 'NO' })));
    const wrong = await stage.scene({ sinks: { crm: withCondition('item.Contry = "NO"') }, environment });
    await wrong.settle();
    const { ledger } = wrong; // of the process that applies the file
    const shown = async (scene: Scene) =>
      (await statusOf({ deps: { ...scene.deps, ledger } })).sinks[0]!.withholding.map(({ text }) => text);
    expect(await shown(wrong)).toEqual([expect.stringContaining('reads item.Contry')]);
    const right = await stage.scene({ sinks: { crm: withCondition(when) }, environment });
    expect(await shown(right)).toEqual([]); // the sink has not decided again
    await right.settle();
    expect(await shown(right)).toEqual(after);
  });

  it('in a mapping of an observing sink is a problem before anything is sent', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...Array.from({ length: 20 }, (_, index) => attendee(index + 1)));
    const sink = crm('item.Name', 'item.email').replace('{ type: hubspot,', '{ type: hubspot, mode: observe,');
    const scene = await stage.scene({ sinks: { crm: sink }, environment });
    await scene.settle();
    const text =
      'all 20 changes lack a value for email: crm.records[0].match, which reads item.email; fields seen: "Email"';
    expect((await sinkOf(scene)).withholding).toEqual([{ list: 'changes', kind: 'would', text }]);
    const right = await stage.scene({ sinks: { crm: sink.replace('item.email', 'item.Email') }, environment });
    expect((await sinkOf(right)).withholding).toEqual([]); // the sink has not counted again
    await right.settle();
    expect((await sinkOf(right)).withholding).toEqual([]);
  });
});

describe.each(kinds)('a list of which a sink has sent nothing yet, on %s', (kind) => {
  it('is no problem while changes of it wait for a destination that cannot be reached', async () => {
    const stage = await stages.open(kind);
    await stage.put(
      'attendees',
      ...Array.from({ length: 40 }, (_, n) => attendee(n + 1, n < 20 ? { Email: null } : {})),
    );
    const unreachable = crm('item.Name').replace(hubspot.url, 'http://127.0.0.1:9');
    const scene = await stage.scene({ sinks: { crm: unreachable }, environment });
    await scene.settle();
    expect(await sinkOf(scene)).toMatchObject({
      state: 'failing',
      delivered: 0,
      withheld: { 'no-match': 20 },
      backlog: 20,
      withholding: [],
    });
  });

  it('remains a problem while a few more changes wait, and is not a problem while most of them wait', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...Array.from({ length: 40 }, (_, n) => attendee(n + 1)));
    const scene = await stage.scene({ sinks: { crm: crm('item.Name', 'item.email') }, environment });
    await scene.settle();
    const problems = async () => (await sinkOf(scene)).withholding.map(({ kind: what }) => what);
    expect(await problems()).toEqual(['all']);
    const arrive = async (from: number, count: number): Promise<void> => {
      await stage.put('attendees', ...Array.from({ length: count }, (_, n) => attendee(from + n)));
      await stage.sweepsAreDue();
      await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    };
    await arrive(41, 1);
    expect(await problems()).toEqual(['all']);
    await arrive(42, 60);
    expect(await problems()).toEqual([]);
  });

  it('is no problem if its items are anonymous, so that no mapping finds their contact', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put(
      'qna-questions',
      ...Array.from({ length: 12 }, (_, n) => qnaQuestion(n + 1, { id: 5, anonymous: true }, 1)),
    );
    const notes = `{ type: hubspot, token: "\${HUBSPOT_TOKEN}", baseUrl: "${hubspot.url}", records: [
      { from: qna-questions, object: notes, create: false, email: $email(attendee.Email),
        properties: { hs_note_body: item.content } } ] }`;
    const scene = await stage.scene({ sinks: { crm: notes }, environment });
    await scene.settle();
    expect(await sinkOf(scene)).toMatchObject({ withheld: { 'no-person': 12 }, withholding: [] });
  });
});

describe.each(kinds)('a mapping that reads a field that no attendee has, on %s', (kind) => {
  it('is a problem that names the field, and the withheld records are sent after the correction', async () => {
    const stage = await stages.open(kind);
    await putPeople(stage);
    const wrong = crm('item.Name', 'item.email');
    const before = await stage.scene({ sinks: { crm: wrong }, environment });
    await before.settle();
    const says =
      'all 300 attendees lack a value for email: crm.records[0].match, which reads item.email; fields seen: "Email"';
    const sink = await sinkOf(before);
    expect(sink).toMatchObject({ delivered: 0, withheld: { 'no-match': 300 } });
    expect(sink.withholding).toEqual([{ list: 'attendees', kind: 'all', text: says }]);
    const audited = await before.ledger.db.query('select 1 from audit');
    const ask = { sink: 'crm', list: null, pigeonhole: null, key: null, limit: 1, changedFrom: null };
    const shown = await previewSink(before.deps, { ...ask, configuration: candidateOf(stage, wrong) }, environment);
    if ('unknown' in shown) throw new Error(shown.unknown);
    expect(shown.counts).toEqual([
      { list: 'attendees', items: 0, withheld: { 'no-match': 300 }, failed: 0, estimated: false },
    ]);
    expect(shown.problems).toEqual([says]);
    expect(shown.notes).toEqual([expect.stringContaining('reads item.email, never seen on attendees')]);

    const right = crm('item.Name');
    const plan = await planConfiguration(before.deps, candidateOf(stage, right), environment);
    expect(plan.deliveries).toEqual([
      expect.objectContaining({ sink: 'crm', list: 'attendees', cause: 'cured', changes: 300, estimated: false }),
    ]);
    expect(await before.ledger.db.query('select 1 from audit')).toEqual(audited);
    const after = await stage.scene({ sinks: { crm: right }, environment });
    await after.settle();
    expect(await sinkOf(after)).toMatchObject({ delivered: 300, withheld: {}, withholding: [] });
    expect(firstNames()).toHaveLength(300);
  });

  it('is a problem after 20 new attendees if the mapping of an established sink gets it', async () => {
    const stage = await stages.open(kind);
    const hasEmail = (id: number): boolean => id % 13 !== 0;
    await stage.put(
      'attendees',
      ...Array.from({ length: 325 }, (_, index) => attendee(index + 1, hasEmail(index + 1) ? {} : { Email: '' })),
    );
    const before = await stage.scene({ sinks: { crm: crm('item.Name') }, environment });
    await before.settle();
    expect(await sinkOf(before)).toMatchObject({ delivered: 300, withheld: { 'no-match': 25 }, withholding: [] });

    const other = await stage.scene({ sinks: { crm: crm('$uppercase(item.Name)') }, environment });
    await other.settle(); // plans the 25 again, which is no news
    expect(await sinkOf(other)).toMatchObject({ withheld: { 'no-match': 25 }, withholding: [] });

    const wrong = await stage.scene({ sinks: { crm: crm('item.Name', 'item.email') }, environment });
    await wrong.settle();
    const arrive = async (from: number, count: number): Promise<void> => {
      await stage.put('attendees', ...Array.from({ length: count }, (_, index) => attendee(from + index)));
      await stage.sweepsAreDue();
      await wrong.settle();
    };
    await arrive(326, 19);
    expect(await sinkOf(wrong)).toMatchObject({ withheld: { 'no-match': 44 }, withholding: [] });
    await arrive(345, 1);
    const text =
      'suddenly 100 of every 100 attendees, far more than before, lack a value for email: crm.records[0].match, which reads item.email; fields seen: "Email"';
    expect((await sinkOf(wrong)).withholding).toEqual([{ list: 'attendees', kind: 'more', text }]);
    const get = apiOf(wrong);
    const { troubles } = JSON.parse(await get('/api/overview')) as { troubles: readonly object[] };
    expect(troubles).toEqual([
      expect.objectContaining({ code: 'sink-withholding', title: expect.stringContaining(text) }),
    ]);
    expect(await get('/metrics')).toMatch(/^pigeonpost_sink_withholding\{[^}]*sink="crm"[^}]*\} 1$/m);
  });

  it('is no problem while its correction releases the withheld records, and the sink is not behind', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...Array.from({ length: 600 }, (_, index) => attendee(index + 1)));
    const before = await stage.scene({ sinks: { crm: crm('item.Name', 'item.email') }, environment });
    await before.settle();
    expect(await sinkOf(before)).toMatchObject({ withheld: { 'no-match': 600 } });
    await stage.db.query(`update changes set found_at = found_at - interval '10 minutes'`);

    const seen = new Set<string>();
    const store: Database = {
      ...delayedDatabase(stage.db, async () => undefined),
      transaction: async (work, options) => {
        const result = await stage.db.transaction(work, options);
        const { withheld, withholding } = await sinkOf(before);
        if ((withheld['no-match'] ?? 0) === 600) return result; // not released yet
        const lanes = await laneStates(before.ledger, { sink: 'crm', workspace: null, after: null, limit: null });
        for (const { text } of withholding) seen.add(text);
        for (const { waitsSince } of lanes) {
          if (waitsSince !== null && Date.now() - waitsSince.getTime() > 5 * 60_000) seen.add('behind');
        }
        return result;
      },
    };
    const after = await stage.scene({ store, sinks: { crm: crm('item.Name') }, environment });
    await after.settle();
    expect(await sinkOf(after)).toMatchObject({ delivered: 600, withheld: {}, withholding: [] });
    expect([...seen]).toEqual([]);
  });

  it('is in the plan of a configuration that adds a sink or changes a mapping, before anything is applied', async () => {
    const stage = await stages.open(kind);
    await putPeople(stage);
    const right = crm('item.Name');
    const scene = await stage.scene({ sinks: { crm: right }, environment });
    await scene.settle();
    expect((await sinkOf(scene)).delivered).toBe(300);
    const wrong = crm('item.Name', 'item.email');
    const says = (sink: string): string =>
      `all 300 attendees lack a value for email: ${sink}.records[0].match, which reads item.email; fields seen: "Email"`;
    const all = { list: 'attendees', items: 300, withheld: { 'no-match': 300 }, failed: 0, estimated: false };
    const planOf = async (sinks: Readonly<Record<string, string>>) => {
      writeFileSync(scene.deps.config.file, candidateWith(stage, sinks).text);
      return await planConfiguration(scene.deps, {}, environment);
    };

    // The contacts exist, so the sink would continue to update them, and only new attendees would be withheld.
    const changed = await planOf({ crm: wrong });
    expect(changed.deliveries).toEqual([]);
    expect(changed.withholding).toEqual([{ ...all, sink: 'crm', before: 0, problem: says('crm') }]);

    const added = await planOf({ crm: right, other: wrong });
    expect(added.deliveries).toEqual([
      expect.objectContaining({ sink: 'other', cause: 'history', changes: 0, withheld: { 'no-match': 300 } }),
    ]);
    expect(added.withholding).toEqual([{ ...all, sink: 'other', before: null, problem: says('other') }]);
    const later = await planOf({ crm: right, other: wrong.replace('{ type', '{ history: none, type') });
    expect([later.deliveries, later.withholding]).toEqual([[], added.withholding]);

    const partial = await planOf({ crm: crm('item.Name', 'item.id > 60 ? item.Email') });
    expect(partial.withholding).toEqual([
      { ...all, sink: 'crm', withheld: { 'no-match': 60 }, before: 0, problem: null },
    ]);
    const failed = await planOf({ crm: crm(failing) });
    expect(failed.withholding).toMatchObject([{ sink: 'crm', withheld: {}, failed: 3, before: 0, problem: null }]);
    const alsoFailed = await planOf({ crm: right, other: crm(failing) });
    expect(alsoFailed.deliveries).toMatchObject([{ sink: 'other', changes: 297, failed: 3 }]);
    expect((await planOf({ crm: crm('item.Email') })).withholding).toEqual([]);
    expect(hubspot.account.portal.all(hubspot.account.contacts)).toHaveLength(300);
  });

  it('is not in a plan that leaves it as it is', async () => {
    const stage = await stages.open(kind);
    await putPeople(stage);
    const scene = await stage.scene({ sinks: { crm: crm('item.Name', 'item.email') }, environment });
    await scene.settle();
    const planOf = (sink: string) => planConfiguration(scene.deps, candidateOf(stage, sink), environment);
    expect((await planOf(crm('item.Email', 'item.email'))).withholding).toEqual([]);
    expect((await planOf(crm('item.Name', 'item.mail'))).withholding).toMatchObject([
      { before: 300, problem: expect.stringContaining('which reads item.mail; fields seen: "Email"') },
    ]);
  });

  it('is not compared on stored items if only the mode, history or limits of a sink change', async () => {
    const stage = await stages.open(kind);
    await putPeople(stage);
    const scene = await stage.scene({ sinks: { crm: crm('item.Name') }, environment });
    await scene.settle();
    const query = jest.spyOn(scene.ledger.db, 'query');
    const counts = async (more: string, firstname = 'item.Name'): Promise<number> => {
      query.mockClear();
      const sink = crm(firstname).replace('{ type: hubspot,', `{ type: hubspot, ${more},`);
      const plan = await planConfiguration(scene.deps, candidateOf(stage, sink), environment);
      expect(plan.changes).toMatchObject([{ what: 'sink', name: 'crm', kind: 'changed' }]);
      return query.mock.calls.filter(([sql]) => sql.includes('from items i join changes c')).length;
    };
    expect(await counts('mode: observe')).toBe(0);
    expect(await counts('history: 30d, limits: { per10s: 50 }')).toBe(0);
    expect(await counts('mode: observe', failing)).toBeGreaterThan(0);
    expect(await counts('consent: { accept: [obtained, not-asked] }')).toBeGreaterThan(0);
    query.mockRestore();
  });
});
