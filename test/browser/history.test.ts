import type { Browser, Page } from 'playwright-core';
import { openTab, type Watched } from './open-browser.js';
import { goTo, openScene, suite } from './open-scene.js';
import type { RunningSystem } from './running-system.js';
import { seriousFindings } from './serious-findings.js';

/** Tests the pages that show what happened and what will: incidents, configurations, alerts, tokens, quota, audit log. */
let system: RunningSystem;
let browser: Browser;
let tab: Watched;
let page: Page;

openScene((scene) => ({ system, browser, tab, page } = scene));

const go = async (hash: string): Promise<void> => await goTo({ page, system }, hash);

const shows = async (text: string | RegExp): Promise<void> => await page.getByText(text).first().waitFor();
const dialog = () => page.getByRole('dialog');

type Click = (name: string | RegExp, at?: 'link' | 'button' | 'dialog') => Promise<void>;

/** Counts the clicks of a task that starts on the overview. A click at `dialog` waits for the question of the page. */
async function clicks(task: (click: Click) => Promise<void>): Promise<number> {
  await go('#/');
  let count = 0;
  await task(async (name, at = 'link') => {
    count += 1;
    const button = at === 'dialog' ? dialog().getByRole('button', { name }) : page.getByRole(at, { name });
    await button.first().click();
  });
  return count;
}

suite('from the overview, in fewer than five clicks, an operator', () => {
  it('reads the quota that tomorrow needs', async () => {
    const count = await clicks(async (click) => {
      await click('Configuration');
      await click('Request quota');
      await page.getByRole('row', { name: /^Tomorrow, .*\d/ }).waitFor();
    });
    expect(count).toBeLessThan(5);
  });

  it('compares the running configuration with the one before it', async () => {
    system.configure('lists: [sessions, questions]');
    await system.post('/api/configuration/apply', {});
    const count = await clicks(async (click) => {
      await click('Configuration');
      await page.getByText(/added: .*lists: \[sessions, questions\]/).waitFor();
    });
    expect(count).toBeLessThan(5);
    await page.getByText('Show the file, with references').click();
    await shows(/apiKey: "\$\{SERVICE_KEY\}"/);
    expect(await page.locator('body').innerText()).not.toContain('sandbox-key');
    await page.getByRole('button', { name: /^Apply again… .*configuration 1/ }).click();
    await dialog().getByRole('button', { name: 'Apply again' }).click();
    await page.getByRole('heading', { name: 'Configuration 3 is running' }).waitFor();
    await page.getByRole('row', { name: /^3 running .* (local|administrator)/ }).waitFor();
  });

  it('pauses a sink and resumes it, which is one incident', async () => {
    const count = await clicks(async (click) => {
      await click('archive');
      await click('Pause…', 'button');
      await click('Pause', 'dialog');
      await click('Resume', 'button');
      await page.getByRole('button', { name: 'Pause…' }).waitFor();
    });
    expect(count).toBeLessThan(5);
  });
});

suite('the activity of a sink', () => {
  it('is shown for three spans, with starts and each step', async () => {
    await go('#/sink/hooks');
    await page.getByRole('img', { name: /^Changes per minute: Found at most \d+, Delivered at most \d+/ }).waitFor();
    await page.getByText('Show each step').click();
    await page.getByRole('columnheader', { name: 'Lag' }).waitFor();
    await page.getByRole('button', { name: '7 days' }).click();
    await shows('pigeonpost started');
  });
});

suite('the page of incidents', () => {
  it('shows what lasts, since when, its effect and what helps', async () => {
    await go('#/incidents');
    const entry = page.getByRole('listitem').filter({ hasText: 'Sink hooks has refused 2 changes' });
    for (const term of ['Since', 'What helps', 'Notified']) await entry.getByText(term, { exact: true }).waitFor();
    await entry.getByRole('link', { name: 'Details' }).click();
    await page.getByRole('heading', { name: 'hooks', exact: true }).waitFor();
  });
});

suite('the page of tokens', () => {
  it('creates a token, shows it once, and revokes it after a confirmation', async () => {
    await go('#/tokens');
    await page.getByRole('textbox', { name: 'Name' }).fill('reporting');
    await page.getByRole('button', { name: 'Create' }).click();
    const text = await page.locator('#made pre').innerText();
    expect(text).toMatch(/^pp_/);
    const answer = await fetch(`${system.url}/api/caller`, { headers: { authorization: `Bearer ${text}` } });
    expect(await answer.json()).toMatchObject({ name: 'reporting', roles: ['viewer'] });
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await page.locator('body').innerText()).not.toContain(text);

    await page.getByRole('button', { name: /^Revoke… .*reporting/ }).click();
    await dialog().getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: /reporting/ }).waitFor({ state: 'detached' });
  });
});

suite('the page of the audit log', () => {
  it('is filtered by actor, action and time, with the filters in the address', async () => {
    await system.makeToken('auditor', 'viewer');
    await go('#/audit-log?action=create-token');
    await page.getByRole('row', { name: /create-token.*token:auditor/ }).waitFor();
    const actions = page.locator('#requests tbody td:nth-child(3)');
    expect((await actions.allInnerTexts()).filter((each) => !each.startsWith('create-token'))).toEqual([]);
    await page.getByLabel('Until').fill('2020-01-01T00:00');
    await shows('No request matches these filters.');
    expect(page.url()).toContain('action=create-token&until=2020-01-01T00%3A00');
    await page.reload();
    await shows('No request matches these filters.');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('row', { name: /create-token.*token:auditor/ }).waitFor();
  });
});

suite('the page of alerts', () => {
  it('says that nobody receives alerts, what to do, and which conditions exist', async () => {
    await go('#/alerts');
    await shows(/Nobody receives alerts: name a Slack channel/);
    await page.getByRole('row', { name: /dead-letters .* off$/ }).waitFor();
  });
});

suite('each of these pages', () => {
  it('has no serious finding of axe in both themes, and loads nothing from other hosts', async () => {
    for (const hash of [
      '#/sink/hooks',
      '#/configuration',
      '#/incidents',
      '#/alerts',
      '#/quota',
      '#/tokens',
      '#/audit-log',
    ]) {
      await go(hash);
      await page.emulateMedia({ colorScheme: 'light' });
      expect([hash, await seriousFindings(page, 'all')]).toEqual([hash, []]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect([hash, await seriousFindings(page, 'color-contrast')]).toEqual([hash, []]);
    }
    expect([tab.foreign, tab.faults]).toEqual([[], []]);
  });

  it('hides from a viewer what only administrators may do', async () => {
    const viewer = await openTab(browser, await system.link(await system.makeToken('looker', 'viewer')));
    await viewer.page.goto(`${system.url}/#/configuration`);
    await viewer.page.getByRole('link', { name: 'Request quota' }).waitFor();
    expect(await viewer.page.getByRole('link', { name: 'Tokens' }).count()).toBe(0);
    await viewer.context.close();
  });
});
