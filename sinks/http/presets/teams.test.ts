import { startTeamsDouble, type TeamsDouble } from '../../../sandbox/teams/start-teams-double.js';
import { typeErrors } from '../../../test/kit/type-errors.js';
import { GuideSink, kinds, question } from '../guide.test-kit.js';

let teams: TeamsDouble;
let stage: GuideSink;

beforeEach(async () => {
  teams = await startTeamsDouble();
  stage = await GuideSink.open({ page: 'teams', variables: { TEAMS_WORKFLOW_URL: teams.workflowUrl } });
});
afterEach(async () => {
  await stage.close();
  await teams.close();
});

describe('docs/sinks/http/teams.md', () => {
  it('posts a card for each question after existing messages', async () => {
    const link = 'Is [this](https://evil.example) **safe**?';
    expect(kinds(await stage.deliver([question('1', 'When is lunch?'), question('2', link)]))).toEqual([
      'delivered',
      'delivered',
    ]);
    expect(teams.messages).toEqual([
      { texts: ['Welcome to the channel'], links: [] },
      { texts: ['Keynote', 'When is lunch?', 'From: Ann Ray', 'Status: allowed'], links: [] },
      { texts: ['Keynote', link, 'From: Ann Ray', 'Status: allowed'], links: [] },
    ]);
  });

  it('sends a card of the type that Microsoft publishes', async () => {
    await stage.deliver([question('1', 'When is lunch?')]);
    const { attachments } = JSON.parse(teams.requests.at(-1)!.body) as { attachments: { content: object }[] };
    const cards = attachments.map(({ content }) => content);
    const published = { package: '@microsoft/teams.cards', type: 'vendor.IAdaptiveCard' };
    expect(cards).toHaveLength(1);
    const wrong = { ...cards[0], version: 'latest' };
    expect(typeErrors(published, [...cards, wrong])).toEqual([expect.stringContaining('"latest"')]);
  });

  it('creates no Markdown link from the name of an attendee', async () => {
    const name = '[Ann](https://evil.example)';
    await stage.deliver([question('1', 'When is lunch?', { attendee: { id: 11, Name: name } })]);
    expect(teams.messages.at(-1)).toEqual({
      texts: ['Keynote', 'When is lunch?', `From: ${name}`, 'Status: allowed'],
      links: [],
    });
  });

  it('posts a question once, even if it changes or is deleted', async () => {
    await stage.deliver([question('1', 'When is lunch?')]);
    expect(await stage.deliver([question('1', 'When is lunch?', {}, 'answered'), question('1', null)])).toEqual([
      { kind: 'nothing', reason: 'not-updated' },
      { kind: 'nothing', reason: 'no-delete-request' },
    ]);
    expect(await stage.deliver([question('1', null, { removal: 'erased' })])).toMatchObject([
      { kind: 'unplannable', cause: 'cannot-forget' },
    ]);
    expect(teams.messages).toHaveLength(2);
  });

  it('does not name a person whose identity is not visible', async () => {
    await stage.deliver([question('1', 'When is lunch?', { attendee: null })]);
    expect(teams.messages.at(-1)).toEqual({ texts: ['Keynote', 'When is lunch?', 'Status: allowed'], links: [] });
  });

  it('shortens a long text, and withholds an item without a text', async () => {
    expect(kinds(await stage.deliver([question('1', 'a'.repeat(9_000)), question('2', '')]))).toEqual([
      'delivered',
      'nothing',
    ]);
    expect(teams.messages.at(-1)!.texts[1]).toHaveLength(5_000);
  });

  it('waits 30 s if an older connector reports "HTTP error 429" with HTTP 200', async () => {
    const text = 'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429';
    teams.faults.add({ effect: { kind: 'answer', answer: { status: 200, text } } });
    expect(await stage.deliver([question('1', 'When is lunch?')])).toMatchObject([{ kind: 'retry', afterMs: 30_000 }]);
    expect(teams.messages).toHaveLength(1);
    expect(kinds(await stage.deliver([question('1', 'When is lunch?')]))).toEqual(['delivered']);
    expect(teams.messages).toHaveLength(2);
  });

  it('pauses if only users of the tenant may trigger the workflow', async () => {
    const closed = await startTeamsDouble({ mayTrigger: 'tenant' });
    const sink = await GuideSink.open({ page: 'teams', variables: { TEAMS_WORKFLOW_URL: closed.workflowUrl } });
    expect(kinds(await sink.deliver([question('1', 'When is lunch?')]))).toEqual(['pause']);
    await sink.close();
    await closed.close();
  });

  it('retries if the workflow is missing, and shows no signature', async () => {
    teams.faults.add({ effect: { kind: 'answer', answer: { status: 404 } }, times: 2 });
    const said = JSON.stringify([await stage.deliver([question('1', 'When is lunch?')]), await stage.check()]);
    expect(said).toContain('"retry"');
    expect(said).not.toMatch(/s1gnature|sig=|workflows/);
    const preview = JSON.stringify(await stage.plan([question('2', 'And dinner?')]));
    expect(preview).not.toMatch(/s1gnature|sig=|workflows/);
  });
});
