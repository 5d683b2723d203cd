import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { until } from '../until.js';
import { installedBrowser, openBrowser, openTab, type Watched } from './open-browser.js';
import { RunningSystem } from './running-system.js';
import { seriousFindings } from './serious-findings.js';

/** Each page and each action in a real browser, against a `pigeonpost start` on the sandbox. */
const suite = installedBrowser === undefined ? describe.skip : describe;

let system: RunningSystem;
let browser: Browser;
let tab: Watched;
let page: Page;

if (installedBrowser !== undefined) {
  beforeAll(async () => {
    [system, browser] = await Promise.all([RunningSystem.open(), openBrowser()]);
    tab = await openTab(browser, await system.link());
    ({ page } = tab);
  }, 240_000);
  afterAll(async () => {
    await browser.close();
    await system.close();
  }, 60_000);
}

async function go(hash: string): Promise<void> {
  await page.goto(`${system.url}/${hash}`);
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
}

const shows = async (text: string | RegExp): Promise<void> => await page.getByText(text).first().waitFor();
const press = async (name: string | RegExp): Promise<void> => await page.getByRole('button', { name }).first().click();
const confirm = async (name: string): Promise<void> =>
  await page.getByRole('dialog').getByRole('button', { name }).click();

suite('the first view', () => {
  it('shows syncs, sinks and pigeonholes, and what is wrong with the button that helps', async () => {
    await go('#/');
    for (const name of ['conference', 'archive', 'hooks', 'late', 'ACME Summit 101']) await shows(name);
    await shows(/sink hooks has refused 2 changes/i);
    await page.getByRole('link', { name: 'Show the dead letters' }).click();
    await page.getByRole('heading', { name: 'hooks', exact: true }).waitFor();
    expect(page.url()).toContain('#/sink/hooks?part=dead-letters');
  });

  it('takes less than 100 kB of script, and nothing of another host', async () => {
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

  it('finds one of 200 pigeonholes, by keyboard', async () => {
    await page.route('**/api/pigeonholes?limit=500', async (route) => {
      const answer = (await (await route.fetch()).json()) as { items: { id: number; name: string }[] };
      const first = answer.items.find(({ id }) => id === 101)!;
      const items = Array.from({ length: 200 }, (_, n) => ({ ...first, id: 1000 + n, name: `Event ${n}` }));
      await route.fulfill({ json: { items, next: null } });
    });
    await go('#/');
    await shows('200 pigeonholes');
    await page.keyboard.press('/');
    await page.keyboard.type('event 137');
    await shows('1 of 200 pigeonholes');
    expect(await page.getByRole('link', { name: 'Event 137' }).count()).toBe(1);
    await page.unrouteAll({ behavior: 'wait' }); // one that is being answered would fail when it is given back
    await page.getByRole('searchbox').fill('');
  });

  it('does not move under the eye while it is loaded and updated', async () => {
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
    // A further answer of each question that the page asks.
    await other.page.waitForResponse(/api\/pigeonholes/);
    const shift = await other.page.evaluate(() => (globalThis as unknown as { shift: number }).shift);
    await other.context.close();
    expect(shift).toBeLessThan(0.1);
  });

  it('says when nothing answers, and recovers by itself', async () => {
    await go('#/');
    await page.route('**/api/**', (route) => route.abort());
    await shows('pigeonpost does not answer');
    await shows('ACME Summit 101');
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByText('pigeonpost does not answer').waitFor({ state: 'detached' });
  });
});

suite('a sink', () => {
  it('explains its dead letters, sends them again and shows what became of them', async () => {
    await go('#/sink/hooks?part=dead-letters');
    await shows(/2 changes of attendees: the destination does not take them as they are/);
    await shows('http:422');
    await shows(/HTTP 422/);
    await press('Show them');
    await page
      .getByRole('link', { name: /^attendees:\d+$/ })
      .first()
      .waitFor();
    expect(await page.getByRole('link', { name: /^attendees:\d+$/ }).count()).toBe(2);
    await press(/^Redrive 2/);
    await confirm('Redrive');
    await shows(/Sent 2 of attendees to hooks again/);
    await shows('2 settled');
    await shows('There are no dead letters.');
    expect((await system.status()).sinks.find(({ name }) => name === 'hooks')!.dead).toEqual({});
  });

  it('that is not configured is one sentence, with nothing to press', async () => {
    await go('#/sink/nowhere');
    await shows('No sink of that name is configured.');
    expect(await page.locator('main').getByRole('button').count()).toBe(0);
    expect(await page.locator('.refused').count()).toBe(0);
  });

  it('is paused for a reason that others see, and resumed', async () => {
    await go('#/sink/archive');
    await press('Pause…');
    await page.getByLabel('Why').fill('the disk is moved');
    await confirm('Pause');
    await shows(/sink archive is paused: the disk is moved.*It keeps its backlog/i);
    expect((await system.status()).sinks.find(({ name }) => name === 'archive')!.pause?.reason).toBe(
      'the disk is moved',
    );
    await press('Resume');
    await shows('up to date');
  });

  it('is not paused by who would rather not', async () => {
    await go('#/sink/archive');
    await press('Pause…');
    await page.getByRole('dialog').waitFor(); // before it is open, the key would be pressed for nothing
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect((await system.status()).sinks.find(({ name }) => name === 'archive')!.state).toBe('working');
  });

  it('shows what it would be sent: without values, and with them only when that is asked for, which is noted', async () => {
    await go('#/sink/hooks');
    await page.getByLabel('List', { exact: true }).selectOption('attendees');
    await press('Preview');
    await shows(/attendees: \d+ would be sent/);
    expect(await page.locator('#preview').innerText()).not.toContain('@example.com');
    await page
      .locator('#preview')
      .getByLabel(/with names and texts/)
      .check();
    await press('Preview');
    await page.locator('#preview details').first().click();
    await page.locator('#preview pre').filter({ hasText: '@' }).first().waitFor();
    expect(await system.auditedActions()).toContain('preview-personal');
  });

  it('is sent stored items again once they were counted', async () => {
    await go('#/sink/archive');
    await page.getByLabel('List to replay').selectOption('sessions');
    await press('Count and ask…');
    await shows(/Send 12 items to archive again\?/);
    await confirm('Replay');
    await shows('12 items sent to archive again');
  });

  it('may send once somebody lets it', async () => {
    await go('#/sink/late');
    await shows('observing');
    await press('Let it send…');
    await confirm('Let it send');
    await shows('Sink late may send');
    await until(
      'its backlog is sent',
      async () => (await system.status()).sinks.find(({ name }) => name === 'late')!.delivered === 12,
    );
  });
});

suite('a pigeonhole', () => {
  it('shows its streams, is read and swept now, and is paused and resumed', async () => {
    await go('#/sync/acme/101');
    for (const column of ['Order', 'Checkpoint', 'Last sweep'])
      await page.getByRole('columnheader', { name: column }).waitFor();
    await page.getByRole('rowheader', { name: 'qna-questions' }).waitFor();
    await shows('Needed within the hour');
    await press('Read now');
    await shows('Pigeonhole acme/101 is read now');
    await press('Sweep attendees');
    await shows('Pigeonhole acme/101 is swept');
    await press('Pause…');
    await confirm('Pause');
    await shows(/pigeonhole acme\/101 is paused.*Nothing of it is read/i);
    await press('Resume');
    await shows('Pigeonhole acme/101 continues');
  });

  it('is rehearsed at the live interval until somebody ends that', async () => {
    await go('#/sync/acme/101');
    await press('Rehearse…');
    await page.getByRole('dialog').getByLabel('Hours').fill('25');
    await confirm('Start');
    await shows('"25" is not a number of hours from 0 to 24');
    await press('Rehearse…');
    await confirm('Start');
    await shows(/every list of acme\/101 is read at the live interval/i);
    await shows('every list at the live interval');
    await press('End rehearsal');
    await shows(/the rehearsal of acme\/101 is over/i);
    await page.getByRole('button', { name: 'Rehearse…' }).waitFor();
  });

  it('belongs to a workspace with its quota', async () => {
    await go('#/workspace/acme');
    await shows('Request quota of acme');
    await shows('ACME Summit 103');
  });

  it('has a page that tells whether it is ready', async () => {
    await go('#/ready/acme/101');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await shows('What was looked at');
  });

  it('is tried with a canary through each sink, once somebody has agreed', async () => {
    await go('#/ready/acme/101');
    await press('Send a canary through each sink…');
    await confirm('Send them');
    await page.getByText(/^Canary through archive/).waitFor();
    expect(await system.auditedActions()).toContain('canary');
  });
});

suite('what people have written', () => {
  const attack = '<img src=x onerror="globalThis.attacked=1"><script>globalThis.attacked=1</script>';

  it('comes as it changes, and runs nothing', async () => {
    const [id] = await system.ids('qna-questions');
    await go('#/live');
    await shows('following');
    await page.getByLabel(/with names and texts/).check();
    await shows('following');
    await system.change({ op: 'patch', list: 'qna-questions', id, item: { content: attack } });
    await shows(attack);
    expect(await system.auditedActions()).toContain('follow-personal');
    await press('Hold still');
    await shows(/held still/);

    await page
      .getByRole('link', { name: `qna-questions:${id}` })
      .first()
      .click();
    await shows('Revision 2');
    await shows('delivered');
    expect(await page.locator('main').innerText()).not.toContain('onerror');
    await press(/^Show it/);
    await shows(attack);
    expect(await system.auditedActions()).toContain('show-personal');
    expect(await page.evaluate(() => 'attacked' in globalThis)).toBe(false);
    expect(await page.locator('main img').count()).toBe(0);
  });

  it('is looked for by list and key', async () => {
    const [id] = await system.ids('attendees');
    await go('#/item');
    await page.getByLabel('List').selectOption('attendees');
    await page.getByLabel('Key').fill(String(id));
    await press('Show');
    await page.getByRole('heading', { name: `attendees:${id}` }).waitFor();
    await page.getByRole('link', { name: 'archive', exact: true }).waitFor();
    await go('#/item/attendees/999999999');
    await shows('No such item is in the ledger');
  });
});

suite('an import', () => {
  it('shows what each column becomes and what would happen, then does it, and gives the report', async () => {
    const file = join(system.folder, 'people.csv');
    const rows = Array.from({ length: 40 }, (_, n) => `T${1000 + n};Guest ${n};guest${n}@example.com;Blue`);
    writeFileSync(file, ['Ticket;Full name;E-mail;Badge', ...rows, ';Nobody;;'].join('\r\n'));
    await go('#/imports');
    await page.getByRole('link', { name: 'Import a file' }).click();
    await page.getByLabel('Pigeonhole').fill('acme/101');
    await page.locator('input[type=file]').setInputFiles(file);
    await shows(/Into ACME Summit 101/);
    await page.getByRole('rowheader', { name: 'Ticket' }).waitFor();
    await shows('T1000');
    await shows('The attendee code is missing');
    await page.getByLabel('Send column Badge').uncheck();
    await page.getByRole('row', { name: /Badge.*not sent/ }).waitFor();
    await press('Import 40 registrants…');
    await confirm('Import 40 registrants');
    await page.getByRole('heading', { name: 'people.csv' }).waitFor();
    await shows('done, 1 to look at');
    await page.getByRole('row', { name: 'created 40' }).waitFor();
    await page.getByRole('row', { name: /42 not sent Ticket/ }).waitFor();
    const [saved] = await Promise.all([page.waitForEvent('download'), press('Download the report')]);
    expect(saved.suggestedFilename()).toBe('people.report.csv');
    await go('#/imports');
    await page.getByRole('link', { name: 'people.csv' }).waitFor();
    expect((await system.ids('registrants')).length).toBeGreaterThanOrEqual(40);
  });
});

suite('what waits for a person', () => {
  it('is kept when the person says so, after the exact items were shown', async () => {
    const ids = (await system.ids('questions')).slice(0, 4);
    await system.change(...ids.map((id) => ({ op: 'delete', list: 'questions', id, mirror: false })));
    await until(
      'the deletions are held',
      async () => (await system.ask<{ held: unknown[] }>('/api/deletions')).held.length > 0,
      30_000,
    );
    await go('#/deletions');
    await press('Show the items');
    await page.getByRole('link', { name: String(ids[0]), exact: true }).waitFor();
    await press('Keep them…');
    await confirm('Keep them');
    await shows('No deletion waits.');
    expect(await system.auditedActions()).toContain('decide-deletions');
  });

  it('is a changed file, which is compared and applied', async () => {
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
  it('leads to the configuration first, and to sending again as the lesser button', async () => {
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
    await until('all of it has failed', async () => {
      const talk = (await system.status()).sinks.find(({ name }) => name === 'talk');
      return Object.values(talk?.dead ?? {}).some((changes) => changes === 12);
    });
    await go('#/sink/talk?part=dead-letters');
    await shows(/12 changes of sessions/);
    await shows(/^mapping: talk\.messages\[0\]\.text/);
    await shows('What failed');
    expect(await page.locator('.cause .main').allInnerTexts()).toEqual(['Configuration']);
    await press(/^Redrive 12/);
    await page
      .getByRole('dialog')
      .getByText(/Their mapping failed/)
      .waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.cause').getByRole('link', { name: 'Configuration' }).click();
    await page.getByRole('heading', { name: 'Configuration 3 is running' }).waitFor();
  });
});

suite('a link to the page', () => {
  it('signs its browser in for every tab and after a reload, where no script can read the session', async () => {
    const link = await system.link();
    const first = await openTab(browser, link);
    await first.page.getByText('ACME Summit 101').first().waitFor();
    expect(first.page.url()).toBe(`${system.url}/`);
    const stored = (): unknown => [localStorage.length, document.cookie, sessionStorage.length];
    expect(await first.page.evaluate(stored)).toEqual([0, '', 0]);
    await first.page.reload();
    await first.page.getByText('ACME Summit 101').first().waitFor();
    const second = await first.context.newPage();
    await second.goto(link); // used, and this browser is signed in
    await second.getByText('ACME Summit 101').first().waitFor();
    await first.context.close();
  });

  it('signs no other browser in once it was used, and says how to get another', async () => {
    const link = await system.link();
    const first = await openTab(browser, link);
    await first.context.close();
    const other = await openTab(browser, link);
    await other.page.getByText('Run "pigeonpost open" for another one.').waitFor();
    await other.page.goto(`${system.url}/`);
    await other.page.getByRole('dialog', { name: 'Your token' }).waitFor();
    await other.context.close();
  });
});

suite('a page in a browser that no link has signed in', () => {
  let other: Watched;
  beforeAll(async () => {
    other = await openTab(browser, `${system.url}/`);
  }, 30_000);
  afterAll(async () => await other.context.close());

  const give = async (token: string): Promise<void> => {
    await other.page.getByRole('textbox', { name: 'Token' }).fill(token);
    await other.page.getByRole('button', { name: 'Go on' }).click();
  };

  it('asks for a token, cannot be had without, and says when one is not valid', async () => {
    await other.page.getByRole('dialog', { name: 'Your token' }).waitFor();
    await other.page.keyboard.press('Escape');
    expect(await other.page.getByRole('dialog', { name: 'Your token' }).isVisible()).toBe(true);
    await give('pp_wrong');
    await other.page.getByText('That token is not valid, or no longer.').waitFor();
    expect(await other.page.getByText('ACME Summit 101').count()).toBe(0);
  });

  it('shows with a valid one what it may see, without a button that it may not press', async () => {
    await give(await system.makeToken('desk', 'viewer'));
    await other.page.getByText('ACME Summit 101').first().waitFor();
    expect(await other.page.getByRole('dialog', { name: 'Your token' }).isVisible()).toBe(false);
    await other.page.goto(`${system.url}/#/sink/archive`);
    await other.page.getByRole('heading', { name: 'Where it stands' }).waitFor();
    expect(await other.page.getByRole('button', { name: /Pause|Count and ask/ }).count()).toBe(0);
    expect(await other.page.getByLabel(/with names and texts/).count()).toBe(0);
  });

  it('keeps it in this tab alone, and asks for another once it is revoked', async () => {
    expect(await other.page.evaluate(() => [localStorage.length, document.cookie, sessionStorage.length])).toEqual([
      0,
      '',
      1,
    ]);
    await other.page.reload();
    await other.page.getByRole('heading', { name: 'archive', exact: true }).waitFor();
    await system.post('/api/tokens/desk/revoke', {});
    await other.page.getByText('That token is not valid, or no longer.').waitFor();
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

  it.each(hashes)('has no serious finding of axe-core, light and dark, and fits on a phone: %s', async (hash) => {
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

  it('has asked no other host, broken no policy and thrown nothing by now', () => {
    expect({ foreign: tab.foreign, faults: tab.faults }).toEqual({ foreign: [], faults: [] });
  });
});
