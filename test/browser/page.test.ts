import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { createDeferred } from '../../base/deferred.js';
import { grouped } from '../../base/words.js';
import { until } from '../until.js';
import { confirmSignIn, openTab, type Watched } from './open-browser.js';
import { goTo, openScene, suite } from './open-scene.js';
import type { RunningSystem } from './running-system.js';
import { seriousFindings } from './serious-findings.js';

/** Tests each page and each action in a real browser, against a `pigeonpost start` on the sandbox. */
let system: RunningSystem;
let browser: Browser;
let tab: Watched;
let page: Page;

openScene((scene) => ({ system, browser, tab, page } = scene));

const go = async (hash: string): Promise<void> => await goTo({ page, system }, hash);

const shows = async (text: string | RegExp): Promise<void> => await page.getByText(text).first().waitFor();
const press = async (name: string | RegExp): Promise<void> => await page.getByRole('button', { name }).first().click();
const confirm = async (name: string): Promise<void> =>
  await page.getByRole('dialog').getByRole('button', { name }).click();

/**
 * Ends a problem and presses its button. The page waits for answers in the meantime: pigeonpost also retries
 * automatically, and the button disappears with the problem.
 */
async function pressAfter(endProblem: () => Promise<void>, button: Locator): Promise<void> {
  const isPressed = createDeferred();
  await page.route('**/api/**', async (route) => {
    if (route.request().method() === 'GET') await isPressed.promise;
    await route.continue();
  });
  await endProblem();
  await button.click();
  isPressed.resolve();
  await page.unrouteAll({ behavior: 'wait' });
}

suite('the overview', () => {
  it('shows syncs, sinks and pigeonholes, and each problem with the button that helps', async () => {
    await go('#/');
    for (const name of ['conference', 'archive', 'hooks', 'late', 'ACME Summit 101']) await shows(name);
    await shows(/^(\d+ s ago|now)$/);
    await shows(/^next (in \d+ s|now)$/);
    await shows(/sink hooks has refused 2 changes/i);
    await page.getByRole('link', { name: 'Show the dead letters' }).click();
    await page.getByRole('heading', { name: 'hooks', exact: true }).waitFor();
    expect(page.url()).toContain('#/sink/hooks?part=dead-letters');
  });

  it('loads less than 100 kB of script, and nothing from other hosts', async () => {
    const sizes = await page.evaluate(async () => {
      const scripts = [...document.querySelectorAll('script')].map(({ src }) => src);
      const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      return entries
        .filter(({ name }) => scripts.includes(name) || name.endsWith('.js'))
        .map((entry) => entry.encodedBodySize);
    });
    expect(sizes.length).toBeGreaterThan(0);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(100_000);
    expect(tab.foreign).toEqual([]);
  });

  it('finds one of 200 pigeonholes with the keyboard', async () => {
    await page.route('**/api/pigeonholes?limit=500', async (route) => {
      const answer = (await (await route.fetch()).json()) as { items: { id: number; name: string }[] };
      const first = answer.items.find(({ id }) => id === 101)!;
      const items = Array.from({ length: 200 }, (_, n) => ({ ...first, id: 1000 + n, name: `Event ${n}` }));
      await route.fulfill({ json: { items, next: null } });
    });
    await go('#/');
    await shows('200 pigeonholes');
    await shows('These are 25 of 200 rows.');
    await press('Show 100 more');
    await shows('These are 125 of 200 rows.');
    await page.keyboard.press('/');
    await page.keyboard.type('event 137');
    await shows('1 of 200 pigeonholes');
    expect(await page.getByRole('link', { name: 'Event 137' }).count()).toBe(1);
    await page.unrouteAll({ behavior: 'wait' }); // a request still in its handler would fail
    await page.getByRole('searchbox').fill('');
  });

  it('is searched with the keyboard on every page, for people only on request, which is audited', async () => {
    await go('#/configuration');
    await page.keyboard.press('Control+k');
    const search = page.getByRole('combobox', { name: /^Search/ });
    await search.fill('acme summit');
    await page.getByRole('option', { name: /^ACME Summit 101/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /ACME Summit 101/ }).waitFor();
    expect(page.url()).toContain('#/sync/acme/101');

    const { items } = await system.ask<{ items: readonly { key: string; data: Record<string, string> }[] }>(
      '/api/items/acme/101/attendees?limit=1&personal=1',
    );
    const [{ key, data }] = items as [(typeof items)[number]];
    await page.keyboard.press('Control+k');
    expect(await search.inputValue()).toBe('');
    await search.fill(data['Email']!);
    const people = page.getByRole('option', { name: /^Search people and questions/ });
    await people.waitFor();
    expect(await seriousFindings(page, 'all')).toEqual([]);
    await people.click();
    await page.getByRole('option', { name: new RegExp(data['Name']!) }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(page.url()).toContain(`#/person/acme/101/${key}`);
    expect(await system.auditedActions()).toContain('find-personal');
  });

  it('does not shift its layout while it loads and updates', async () => {
    const other = await openTab(browser, await system.link());
    await other.page.addInitScript(() => {
      const seen = globalThis as unknown as { shift: number };
      seen.shift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) seen.shift += (entry as unknown as { value: number }).value;
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await other.page.reload();
    await other.page.getByText('ACME Summit 101').waitFor();
    // Wait until every request has been answered a second time.
    await other.page.waitForResponse(/api\/pigeonholes/);
    const shift = await other.page.evaluate(() => (globalThis as unknown as { shift: number }).shift);
    await other.context.close();
    expect(shift).toBeLessThan(0.1);
  });

  it('says when the server does not answer, and recovers automatically', async () => {
    await go('#/');
    await page.route('**/api/**', (route) => route.abort());
    await shows('pigeonpost has not answered');
    await shows('ACME Summit 101');
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByText('pigeonpost has not answered').waitFor({ state: 'detached' });
  });
});

suite('a sink', () => {
  it('explains its dead letters, redrives them and shows their outcomes', async () => {
    await go('#/sink/hooks?part=dead-letters');
    await shows(/2 changes of attendees: the destination rejects their content/);
    await shows('http:422');
    await shows(/HTTP 422/);
    await press(/^Show$/);
    await page
      .getByRole('link', { name: /^an attendee in “ACME Summit 101”$/ })
      .first()
      .waitFor();
    expect(await page.getByRole('link', { name: /^an attendee in “ACME Summit 101”$/ }).count()).toBe(2);
    await press(/^Redrive 2/);
    await confirm('Redrive');
    await shows(/Redrive of 2 changes of attendees to hooks/);
    await shows('2 settled');
    await shows('There are no dead letters.');
    expect((await system.status()).sinks.find(({ name }) => name === 'hooks')!.dead).toEqual({});
  });

  it('that is not configured is one sentence without buttons', async () => {
    await go('#/sink/nowhere');
    await shows('No sink with this name is configured.');
    expect(await page.locator('main').getByRole('button').count()).toBe(0);
    expect(await page.locator('.refused').count()).toBe(0);
  });

  it('is paused with a reason that others see, and resumed', async () => {
    await go('#/sink/archive');
    await press('Pause…');
    await page.getByLabel('Reason').fill('the disk is moved');
    await confirm('Pause');
    await shows(/sink archive is paused: the disk is moved.*It keeps its backlog/i);
    expect((await system.status()).sinks.find(({ name }) => name === 'archive')!.pause?.reason).toBe(
      'the disk is moved',
    );
    expect(await page.locator('main').innerText()).not.toMatch(/paused.*by /);
    await press('Resume');
    await shows('up to date');
  });

  it('is not paused if the operator presses Escape', async () => {
    await go('#/sink/archive');
    await press('Pause…');
    await page.getByRole('dialog').waitFor(); // a key pressed before the dialog is open has no effect
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect((await system.status()).sinks.find(({ name }) => name === 'archive')!.state).toBe('working');
  });

  it('previews what it would receive, with values only on request, which is audited', async () => {
    await go('#/sink/hooks');
    await page.getByLabel('List', { exact: true }).selectOption('attendees');
    await press('Preview');
    await shows(/attendees: [\d,]+ to send/);
    expect(await page.locator('#preview').innerText()).not.toContain('@example.com');
    await page
      .locator('#preview')
      .getByLabel(/names and texts/)
      .check();
    await press('Preview');
    await page.locator('#preview details').first().click();
    await page
      .locator('#preview details')
      .first()
      .getByText(/^POST http/)
      .waitFor();
    await page.locator('#preview pre').filter({ hasText: '@' }).first().waitFor();
    expect(await system.auditedActions()).toContain('preview-personal');
  });

  it('receives stored items again after they were counted and confirmed', async () => {
    await go('#/sink/archive');
    const fact = page.locator('.fact').filter({ has: page.getByText('Delivered', { exact: true }) });
    const delivered = async (): Promise<number> => Number((await fact.locator('b').innerText()).replaceAll(',', ''));
    const before = await delivered();
    await page.getByLabel('List to replay').selectOption('sessions');
    await press('Count and replay…');
    await shows(/Send 12 items to archive again\?/);
    await confirm('Replay');
    await shows('12 items queued for archive');
    await until('the page counts the replayed items', async () => (await delivered()) === before + 12);
    await go('#/');
    await page.getByRole('row', { name: new RegExp(`^archive .* ${grouped(before + 12)} `) }).waitFor();
    const [id] = await system.ids('sessions');
    await go(`#/item/sessions/${id}`);
    await shows('delivered again by a replay');
  });

  it('sends once it is approved', async () => {
    await go('#/sink/late');
    await shows('observing');
    await page.getByRole('row', { name: /acme\/101 observing/ }).waitFor();
    await page.getByText('Would have sent', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: /^Start sending/ }).count()).toBe(1);
    const [id] = await system.ids('sessions');
    await go(`#/item/sessions/${id}`);
    await shows(/not sent: the sink only observes/);
    await go('#/sink/late');
    await press('Start sending…');
    await confirm('Start sending');
    await shows('Sink late is approved and sends');
    await until(
      'it delivers its backlog',
      async () => (await system.status()).sinks.find(({ name }) => name === 'late')!.delivered === 12,
    );
  });
});

suite('a sink that has to wait for half an hour', () => {
  it('is retried with one button, and its problem ends with the cause', async () => {
    await system.planAnswer({ status: 429, retryAfter: '1800', count: 1000 });
    const [id] = await system.ids('attendees');
    await system.change({ op: 'patch', list: 'attendees', id, item: { Company: 'Elsewhere' } });
    await go('#/');
    const problem = page.getByText(/sink hooks accepts nothing/i).first();
    await problem.waitFor();
    await system.forgetAnswers();
    await press('Try now');
    await problem.waitFor({ state: 'detached' });
    const hooks = (await system.status()).sinks.find(({ name }) => name === 'hooks')!;
    expect([hooks.state, hooks.backlog]).toEqual(['working', 0]);
  });
});

suite('a service that hangs', () => {
  it('is one problem, on the overview and on each page that waits for it, until it answers again', async () => {
    await go('#/');
    await system.hang();
    const problem = page
      .locator('.troubles')
      .getByRole('listitem')
      .filter({ hasText: /The service has not answered workspace acme since/ });
    await problem.waitFor();
    expect(await problem.innerText()).toMatch(/^Stopped The service has not answered .*; \d+ lists wait\b/);
    expect(await problem.count()).toBe(1);
    for (const waiting of ['#/', '#/sync/acme/101', '#/workspace/acme']) {
      await go(waiting);
      await problem.waitFor();
      await shows('waits for the service, tried every 10 s');
      const promised = page.getByText(/^next (now|in \d+ s)$/);
      await until('no list has a time of its next read', async () => (await promised.count()) === 0);
      expect(await page.getByRole('cell', { name: /^(now|in \d+ s)$/ }).count()).toBe(0);
    }
    await pressAfter(() => system.endHang(), problem.getByRole('button', { name: 'Try now' }));
    await problem.waitFor({ state: 'detached' });
    await system.untilDueIsRead();
  });
});

suite('a workspace', () => {
  it('whose key the service refuses is a problem, and none of its pigeonholes is up to date', async () => {
    await go('#/');
    const row = page.getByRole('row', { name: /ACME Summit 101/ });
    await row.getByText('up to date').waitFor();
    await system.acceptKey('another-key');
    const problem = page
      .locator('.troubles')
      .getByRole('listitem')
      .filter({ hasText: /refuses the key of workspace acme/ });
    await problem.waitFor();
    await row.getByText('up to date').waitFor({ state: 'detached' });
    const states = await page.locator('table.pigeonholes tbody tr').allInnerTexts();
    expect(states.length).toBeGreaterThan(0);
    expect(states.filter((text) => text.includes('up to date'))).toEqual([]);
    const button = problem.getByRole('button', { name: /^(Try now|Resume)/ });
    await pressAfter(() => system.acceptKey('sandbox-key'), button);
    await problem.waitFor({ state: 'detached' });
    await row.getByText('up to date').waitFor();
  });

  it('that is not configured is one sentence', async () => {
    await go('#/workspace/nowhere');
    await shows('No workspace with this name is configured.');
    expect(await page.locator('.refused').count()).toBe(0);
  });

  it('shows the refusal of the API if there is one', async () => {
    const refusal = { status: 403, json: { detail: 'this token may not read the status' } };
    await page.route('**/api/status', (route) => route.fulfill(refusal));
    await go('#/workspace/acme');
    await shows('This token may not read the status.');
    expect(await page.getByText('No workspace with this name').count()).toBe(0);
    await page.unrouteAll({ behavior: 'wait' });
  });
});

suite('a pigeonhole', () => {
  it('shows its streams, and is read, swept, paused and resumed', async () => {
    await go('#/sync/acme/101');
    for (const column of ['Order', 'Checkpoint', 'Last sweep'])
      await page.getByRole('columnheader', { name: column }).waitFor();
    await page.getByRole('rowheader', { name: 'qna-questions' }).waitFor();
    await shows('Needed in the next hour');
    await shows(/^every 1 s: /);
    await shows(/^every .*: sessions of this type never produce this data$/);
    await press('Read now');
    await shows('Pigeonhole acme/101 is being read');
    await press('Sweep attendees');
    await shows('Pigeonhole acme/101 is being swept');
    await press('Pause…');
    await confirm('Pause');
    await shows(/pigeonhole acme\/101 is paused.*reads nothing from it/i);
    await press('Resume');
    await shows('Pigeonhole acme/101 continues');
  });

  it('is exported for a spreadsheet: one table as CSV, or all of them as a workbook', async () => {
    await go('#/sync/acme/101');
    const panel = page.locator('#export');
    await panel.getByText('Without names and texts').waitFor();
    const [workbook] = await Promise.all([page.waitForEvent('download'), panel.getByRole('button').click()]);
    expect(workbook.suggestedFilename()).toBe('acme-101.xlsx');
    await panel.getByLabel('Table').selectOption('attendees');
    await panel.getByLabel('Format').selectOption('csv');
    await panel.getByRole('checkbox').check();
    const [csv] = await Promise.all([page.waitForEvent('download'), panel.getByRole('button').click()]);
    expect(csv.suggestedFilename()).toBe('acme-101-attendees.csv');
    const text = await readFile((await csv.path())!, 'utf8');
    const header = text.slice(1).split('\r\n')[0]!;
    for (const column of ['attendeeCode', 'Name', 'item.consent']) expect(header).toContain(`"${column}"`);
    expect(text.trim().split('\r\n').length).toBeGreaterThan(20);
    await shows('acme-101-attendees.csv was saved');
  });

  it('is rehearsed at the live interval until the operator ends the rehearsal', async () => {
    await go('#/sync/acme/101');
    await press('Rehearse…');
    await page.getByRole('dialog').getByLabel('Hours').fill('25');
    await confirm('Start');
    await shows('"25" is not a number of hours');
    await press('Rehearse…');
    await confirm('Start');
    await shows(/every list of acme\/101 is read at the live interval/i);
    await shows('every list at the live interval');
    await press('End rehearsal');
    await shows(/the rehearsal of acme\/101 has ended/i);
    await page.getByRole('button', { name: 'Rehearse…' }).waitFor();
  });

  it('belongs to a workspace with its quota', async () => {
    await go('#/workspace/acme');
    await shows('Request quota of acme');
    await shows('ACME Summit 103');
  });

  it('has a page with its readiness', async () => {
    await go('#/ready/acme/101');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('heading', { name: 'Checks' }).waitFor();
  });
});

suite('the texts of attendees', () => {
  const attack = '<img src=x onerror="globalThis.attacked=1"><script>globalThis.attacked=1</script>';

  it('appear live and are never run as code', async () => {
    const [id] = await system.ids('qna-questions');
    await go('#/live');
    await shows('following');
    await page.getByLabel(/names and texts/).check();
    await shows('following');
    await system.change({ op: 'patch', list: 'qna-questions', id, item: { content: attack } });
    await shows(attack);
    expect(await system.auditedActions()).toContain('follow-personal');
    await press('Hold');
    await shows(/paused; new changes are kept/);

    await shows(new RegExp(`qna-questions:${id}`));
    await page.getByRole('link', { name: attack }).first().click();
    await page.getByRole('heading', { level: 1, name: /^A question in “/ }).waitFor();
    await shows('Revision 2');
    await shows('delivered');
    expect(await page.locator('main').innerText()).not.toContain('onerror');
    await press('Show (audited)');
    await shows(attack);
    expect(await system.auditedActions()).toContain('show-personal');
    expect(await page.evaluate(() => 'attacked' in globalThis)).toBe(false);
    expect(await page.locator('main img').count()).toBe(0);
  });

  it('are found by list and key', async () => {
    const [id] = await system.ids('attendees');
    await go('#/item');
    await page.getByLabel('List').selectOption('attendees');
    await page.getByLabel('Key').fill(String(id));
    await press('Show');
    await page.getByRole('heading', { level: 1, name: /^An attendee in “/ }).waitFor();
    await shows(`attendees:${id}`);
    await page.getByRole('link', { name: 'archive', exact: true }).first().waitFor(); // one for each revision
    await go('#/item/attendees/999999999');
    await shows('The ledger has no such item.');
  });
});

suite('an import', () => {
  it('of 500 rows with three mistakes shows columns and expected outcomes, runs after a confirmation, and offers its report', async () => {
    const file = join(system.folder, 'people.csv');
    const rows = Array.from({ length: 497 }, (_, n) => `T${1000 + n};Guest ${n};guest${n}@example.com;Blue`);
    const mistakes = [';Nobody;;', 'T1000;Guest again;else@example.com;Blue', 'T2000;Guest;no-address;Blue'];
    writeFileSync(file, ['Ticket;Full name;E-mail;Badge', ...rows, ...mistakes].join('\r\n'));
    await go('#/imports');
    await page.getByRole('link', { name: 'Import a file' }).click();
    await page.getByLabel('Pigeonhole').fill('acme/101');
    await page.locator('input[type=file]').setInputFiles(file);
    await shows(/Into ACME Summit 101/);
    await shows('498 different values in 499 rows');
    await shows('1 value in 499 rows, none with a digit');
    expect(await page.getByRole('button', { name: /^Import 0 registrants/ }).isDisabled()).toBe(true);
    await press('Use Ticket');
    await page.getByText('Which column holds the attendee codes?').waitFor({ state: 'detached' });
    await page.getByRole('rowheader', { name: 'Ticket' }).waitFor();
    await shows('T1000');
    await shows('The attendee code is missing');
    await shows('The code is already in row 2');
    await shows('The value is not an e-mail address');
    expect(await page.locator('main').innerText()).not.toContain('missing-code');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByLabel('Send column Badge').uncheck();
    await page.getByRole('row', { name: /Badge.*not sent/ }).waitFor();
    await press('Import 497 registrants…');
    await confirm('Import 497 registrants');
    await page.getByRole('heading', { name: 'people.csv' }).waitFor();
    await shows('done, 3 to check');
    await page.getByRole('row', { name: 'created 497' }).waitFor();
    await page.getByRole('row', { name: /499 not sent Ticket/ }).waitFor();
    const [saved] = await Promise.all([page.waitForEvent('download'), press('Download the report')]);
    expect(saved.suggestedFilename()).toBe('people.report.csv');
    await go('#/imports');
    await page.getByRole('link', { name: 'people.csv' }).waitFor();
    expect((await system.ids('registrants')).length).toBeGreaterThanOrEqual(497);
  });
});

suite('an import into an event that has ended', () => {
  it('is warned about before the confirmation, and starts only if the operator allows it', async () => {
    const file = join(system.folder, 'late.csv');
    writeFileSync(file, 'Ticket;Full name\r\nT9001; Late \r\n');
    await page.route('**/api/imports/check?*', async (route) => {
      const check = (await (await route.fetch()).json()) as { target: object };
      await route.fulfill({ json: { ...check, target: { ...check.target, status: 'ended' } } });
    });
    await go('#/imports/new?pigeonhole=acme%2F101');
    await page.locator('input[type=file]').setInputFiles(file);
    await shows('This event has ended. To import anyway, select');
    await shows('Row 2, Full name: white space around the value was removed');
    await press('Use Ticket');
    const start = page.getByRole('button', { name: 'Import 1 registrant…' });
    expect(await start.isDisabled()).toBe(true);
    await page.getByText('More options: saved mappings').click();
    await page.getByLabel('import even if the event has ended').check();
    await page.locator('button:not([disabled])').filter({ hasText: 'Import 1 registrant…' }).click();
    await page.getByRole('dialog').getByText('This event has ended.').waitFor();
    await page.keyboard.press('Escape');
    await page.unrouteAll({ behavior: 'wait' }); // a request still in its handler would fail
  });
});

suite('a decision of the operator', () => {
  it('keeps held deletions after the exact items are shown', async () => {
    const ids = (await system.ids('questions')).slice(0, 4);
    await system.change(...ids.map((id) => ({ op: 'delete', list: 'questions', id, mirror: false })));
    await until(
      'the deletions are held',
      async () => (await system.ask<{ held: unknown[] }>('/api/deletions')).held.length > 0,
    );
    await go('#/deletions');
    await press('Show the items');
    const first = page.getByRole('listitem').filter({ hasText: new RegExp(`:${ids[0]}$`) });
    await first.getByRole('link', { name: /^A question in “/ }).waitFor();
    await press('Keep them…');
    await confirm('Keep them');
    await shows('No deletions are held.');
    expect(await system.auditedActions()).toContain('decide-deletions');
  });

  it('applies a changed file after a comparison', async () => {
    system.configure('lists: [sessions, attendees]');
    await go('#/configuration');
    await press('Compare with the file');
    await shows('Sink late');
    await press('Apply the file…');
    await confirm('Apply');
    await page.getByRole('heading', { name: 'Configuration 2 is running' }).waitFor();
  });
});

suite('a mapping that fails', () => {
  it('links to the configuration first, and offers redriving as the secondary button', async () => {
    const token = join(system.folder, 'talk.token');
    writeFileSync(token, 'xoxb-nobody');
    const messages = `[{ from: sessions, text: '$sum(item.name)' }]`;
    const slack = `type: slack, token: "\${file:${token}}", channel: C0123456789, baseUrl: "http://127.0.0.1:9/api"`;
    system.configure('lists: [sessions, attendees]', { talk: `{ ${slack}, messages: ${messages} }` });
    await go('#/configuration');
    await press('Compare with the file');
    await shows('Sink talk');
    await press('Apply the file…');
    await confirm('Apply');
    await page.getByRole('heading', { name: 'Configuration 3 is running' }).waitFor();
    await until('all its deliveries have failed', async () => {
      const talk = (await system.status()).sinks.find(({ name }) => name === 'talk');
      return Object.values(talk?.dead ?? {}).some((changes) => changes === 12);
    });
    await go('#/sink/talk?part=dead-letters');
    await shows(/12 changes of sessions/);
    await shows(/^mapping: talk\.messages\[0\]\.text/);
    await page.getByText('Error', { exact: true }).waitFor();
    expect(await page.locator('.cause .main').allInnerTexts()).toEqual(['Configuration']);
    await press(/^Redrive 12/);
    await page
      .getByRole('dialog')
      .getByText(/Their mapping failed/)
      .waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.cause').getByRole('link', { name: 'Configuration' }).click();
    await page.getByRole('heading', { name: 'Configuration 3 is running' }).waitFor();
    await go('#/');
    await shows('The mapping of sink talk failed on 12 changes');
    expect(await page.getByText(/sink talk has refused|destination rejects/i).count()).toBe(0);
  });
});

suite('a mapping that reads a field which no item has', () => {
  it('is a problem that names the field, in the comparison and on the overview', async () => {
    const token = join(system.folder, 'crm.token');
    writeFileSync(token, 'pat-nobody');
    const records = `[{ from: attendees, object: contacts, match: [email], properties: { email: '$email(item.email)' } }]`;
    const consent = 'consent: { accept: [obtained, refused, not-asked, not-known] }';
    const crm = `{ type: hubspot, token: "\${file:${token}}", baseUrl: "http://127.0.0.1:9", lists: [attendees], ${consent}, records: ${records} }`;
    system.configure('lists: [sessions, attendees]', { crm });
    await go('#/configuration');
    await press('Compare with the file');
    const lack = /all \d+ attendees lack a value for email: crm\.records\[0\]\.match.*fields seen: "Email"/;
    await shows(new RegExp(`Sink crm: ${lack.source}`));
    await shows(/0 changes of attendees, \d+ withheld: no value to match by/);
    await press('Apply the file…');
    await page
      .getByRole('dialog')
      .getByText(/The mapping of sink crm does not send (\d+) of \1 attendees\./)
      .waitFor();
    await confirm('Apply');
    await until('the sink runs', async () => (await system.status()).sinks.some(({ name }) => name === 'crm'));
    await go('#/');
    await shows(lack);
  });
});

suite('a link to the page', () => {
  it('signs its browser in for every tab and after a reload, without a session that scripts can read', async () => {
    const link = await system.link();
    const first = await openTab(browser, link);
    await first.page.getByText('ACME Summit 101').first().waitFor();
    expect(first.page.url()).toBe(`${system.url}/`);
    const stored = (): unknown => [localStorage.length, document.cookie, sessionStorage.length];
    expect(await first.page.evaluate(stored)).toEqual([0, '', 0]);
    await first.page.reload();
    await first.page.getByText('ACME Summit 101').first().waitFor();
    const second = await first.context.newPage();
    await second.goto(link); // already used, but this browser is signed in
    await second.getByText('ACME Summit 101').first().waitFor();
    await first.context.close();
  });

  it('signs no second browser in, and says how to get another link', async () => {
    const link = await system.link();
    const first = await openTab(browser, link);
    await first.context.close();
    const other = await openTab(browser, `${system.url}/`);
    await other.page.goto(link);
    await other.page.getByText('Run pigeonpost open for another one').waitFor();
    await other.page.goto(`${system.url}/`);
    await other.page.getByRole('dialog', { name: 'Sign in' }).waitFor();
    await other.context.close();
  });
});

suite('the person who is signed in', () => {
  it('is shown before the sign-in and on every page, and signs out on the server', async () => {
    const token = await system.makeToken('stage', 'importer');
    const { context, page: own, faults } = await openTab(browser, `${system.url}/`, 390);
    await own.goto(await system.link(token));
    await own.getByRole('definition').filter({ hasText: 'importer' }).waitFor();
    expect(await seriousFindings(own, 'all')).toEqual([]);
    await confirmSignIn(own);
    for (const hash of ['#/', '#/imports', '#/items', '#/live', '#/configuration', '#/sink/archive', '#/nowhere']) {
      await own.goto(`${system.url}/${hash}`);
      await own.getByText('Signed in as stage').waitFor();
    }
    const kept = await context.storageState();
    await own.getByRole('button', { name: 'Sign out' }).click();
    await own.getByRole('dialog', { name: 'Sign in' }).waitFor();
    const copy = await browser.newContext({ storageState: kept });
    expect((await copy.request.get(`${system.url}/api/caller`)).status()).toBe(401);
    expect(faults).toEqual([]);
    await Promise.all([copy.close(), context.close()]);
  });
});

suite('the page in a browser that is not signed in', () => {
  let other: Watched;
  beforeAll(async () => {
    other = await openTab(browser, `${system.url}/`);
  });
  afterAll(async () => await other.context.close());

  const give = async (token: string): Promise<void> => {
    await other.page.getByRole('textbox', { name: 'Token' }).fill(token);
    await other.page.getByRole('button', { name: 'Sign in' }).click();
  };

  it('prompts for a token, shows nothing without one, and says when one is invalid', async () => {
    await other.page.getByRole('dialog', { name: 'Sign in' }).waitFor();
    await other.page.keyboard.press('Escape');
    expect(await other.page.getByRole('dialog', { name: 'Sign in' }).isVisible()).toBe(true);
    await give('pp_wrong');
    await other.page.getByText('This token is invalid, expired or revoked.').waitFor();
    expect(await other.page.getByText('ACME Summit 101').count()).toBe(0);
  });

  it('shows with a valid token only the data and buttons that its role allows', async () => {
    await give(await system.makeToken('desk', 'viewer'));
    await other.page.getByText('ACME Summit 101').first().waitFor();
    expect(await other.page.getByRole('dialog', { name: 'Sign in' }).isVisible()).toBe(false);
    await other.page.goto(`${system.url}/#/sink/archive`);
    await other.page.getByRole('heading', { name: 'Progress by pigeonhole' }).waitFor();
    expect(await other.page.getByRole('button', { name: /Pause|Count and replay/ }).count()).toBe(0);
    expect(await other.page.getByLabel(/names and texts/).count()).toBe(0);
  });

  it('keeps the token only in this tab, and prompts for another once it is revoked', async () => {
    expect(await other.page.evaluate(() => [localStorage.length, document.cookie, sessionStorage.length])).toEqual([
      0,
      '',
      1,
    ]);
    await other.page.reload();
    await other.page.getByRole('heading', { name: 'archive', exact: true }).waitFor();
    await system.post('/api/tokens/desk/revoke', {});
    await other.page.getByText('This token is invalid, expired or revoked.').waitFor();
  });
});

suite('every page', () => {
  const hashes = [
    '#/',
    '#/sync/acme/101',
    '#/sink/hooks',
    '#/imports',
    '#/imports/new',
    '#/imports/1',
    '#/item',
    '#/item/attendees/1000001',
    '#/live',
    '#/workspace/acme',
    '#/deletions',
    '#/configuration',
    '#/ready/acme/101',
    '#/nothing',
  ];

  it.each(hashes)('has no serious accessibility finding, in light and dark, and fits on a phone: %s', async (hash) => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await go(hash);
    const findings: string[] = [];
    for (const [colorScheme, rules] of [
      ['light', 'all'],
      ['dark', 'color-contrast'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      findings.push(...(await seriousFindings(page, rules)).map((finding) => `${colorScheme}: ${finding}`));
    }
    await page.setViewportSize({ width: 360, height: 740 });
    const isWider = await page.evaluate(
      () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
    );
    expect({ findings, isWider }).toEqual({ findings: [], isWider: false });
  });

  it('has contacted no other host, violated no policy and thrown no exception', () => {
    expect({ foreign: tab.foreign, faults: tab.faults }).toEqual({ foreign: [], faults: [] });
  });
});
