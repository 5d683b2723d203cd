import type { Page } from 'playwright-core';
import type { Watched } from './open-browser.js';
import { goTo, openScene, suite } from './open-scene.js';
import type { RunningSystem } from './running-system.js';
import { seriousFindings } from './serious-findings.js';

/** Tests the log of a sink in a real browser, against a `pigeonpost start` on the sandbox. */
let system: RunningSystem;
let tab: Watched;
let page: Page;

openScene((scene) => ({ system, tab, page } = scene));

const go = async (hash: string): Promise<void> => await goTo({ page, system }, hash);

const shows = async (text: string | RegExp): Promise<void> => await page.getByText(text).first().waitFor();
const sinkRow = (name: string) =>
  page
    .locator('#sinks')
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name }) });

suite('the log of a sink', () => {
  it('shows from the overview the request and the answer of a refused delivery, and sends it again, in four clicks', async () => {
    await go('#/');
    let clicks = 0;
    const click = async (target: ReturnType<Page['getByRole']>): Promise<void> => {
      clicks += 1;
      await target.first().click();
    };
    await click(sinkRow('hooks').getByRole('link', { name: '2', exact: true }));
    await shows(/2 of attendees|Dead letters/);
    expect(page.url()).toContain('#/deliveries/hooks?show=dead');
    await click(page.getByRole('button', { name: /^Open attendees:/ }));
    await click(page.getByRole('button', { name: 'Show request and answer (audited)' }));
    await page.getByRole('region', { name: 'Request' }).getByText('"attendees.created"').waitFor();
    await page.getByRole('region', { name: 'Answer' }).getByText('the field Email is not allowed').waitFor();
    await click(page.getByRole('button', { name: 'Send again', exact: true }));
    await shows(/1 item queued again for hooks/i);
    await shows('Try 2');
    await page
      .getByRole('list', { name: /Attempts/ })
      .getByText('delivered')
      .first()
      .waitFor();
    expect(clicks).toBeLessThan(5);
    expect(await system.auditedActions()).toEqual(
      expect.arrayContaining(['show-attempt-personal', 'redrive-dead-letters']),
    );
  });

  it('keeps list, cause and the opened row in the address, and the focus where it is', async () => {
    await go('#/deliveries/hooks?show=dead');
    await page.getByRole('link', { name: 'http:422' }).first().click();
    await page.waitForURL(/reason=http%3A422/);
    const list = page.getByLabel('List', { exact: true });
    await list.focus();
    await list.selectOption('votes');
    await page.waitForURL(/list=votes/);
    await shows('Nothing matches these filters.');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('SELECT');
    await page.reload();
    await shows('Nothing matches these filters.');
    expect(await list.inputValue()).toBe('votes');
  });

  it('sends a selection again: what was delivered as a replay', async () => {
    await go('#/deliveries/hooks?show=delivered&list=sessions');
    await page
      .getByRole('checkbox', { name: /^Choose sessions:/ })
      .first()
      .check();
    await page.getByRole('button', { name: 'Send 1 again…' }).click();
    await page.getByRole('dialog').getByText('in its present state, marked as a replay').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await shows(/1 item queued again for hooks/i);
    await go('#/deliveries/hooks?list=sessions');
    await page.getByText('delivered').nth(4).waitFor(); // four sessions, and one of them again
  });

  it('lists the changes behind each number of the sink and of the overview', async () => {
    await go('#/sink/hooks');
    for (const [fact, show] of [
      ['Delivered', 'delivered'],
      ['Dead letters', 'dead'],
    ] as const) {
      const link = page.locator('.fact').filter({ hasText: fact }).getByRole('link').first();
      expect(await link.getAttribute('href')).toBe(`#/deliveries/hooks?show=${show}`);
    }
    await page.locator('#lanes').getByRole('link', { name: /^\d+$/ }).last().click();
    await page.waitForURL(/show=delivered&pigeonhole=acme/);
    await page.getByRole('rowheader').first().waitFor();
    await go('#/');
    await page.locator('#pigeonholes').getByRole('link', { name: /^\d+$/ }).first().click();
    await page.waitForURL(/#\/live\?pigeonhole=acme/);
  });

  it('says before a redrive what it would send', async () => {
    await go('#/sink/hooks?part=dead-letters');
    await page.getByRole('button', { name: /^Redrive 1/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('acme/101').waitFor();
    await dialog.getByText('1 change').first().waitFor();
    await dialog.getByRole('button', { name: 'Redrive' }).click();
    await shows(/1 settled/);
  });

  it('is used without findings of axe, and fits on a phone', async () => {
    for (const hash of ['#/deliveries/hooks', '#/deliveries/hooks?show=withheld', '#/deliveries/nobody']) {
      await go(hash);
      expect(await seriousFindings(page, 'all')).toEqual([]);
    }
    await page.setViewportSize({ width: 390, height: 800 });
    await go('#/deliveries/hooks?show=delivered');
    await page
      .getByRole('button', { name: /^Open / })
      .first()
      .click();
    await page.getByRole('list', { name: /Attempts/ }).waitFor();
    expect(await seriousFindings(page, 'all')).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    expect(tab.faults).toEqual([]);
  });
});
