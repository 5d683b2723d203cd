import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { PublicKey } from '../../base/ed25519.js';
import { verifyFile } from '../../operations/statement/sign-statement.js';
import { editArchive, readArchive } from '../kit/archive.js';
import { openTab, type Watched } from './open-browser.js';
import { goTo, openScene, suite } from './open-scene.js';
import type { RunningSystem } from './running-system.js';
import { seriousFindings } from './serious-findings.js';

/** Tests in a real browser the audit of a sink, the statement of an event, and the export of dead letters. */
let system: RunningSystem;
let browser: Browser;
let tab: Watched;
let page: Page;

openScene((scene) => ({ system, browser, tab, page } = scene), {
  async link(running) {
    await running.letDeliveriesAge();
    return await running.link();
  },
});

const go = async (hash: string): Promise<void> => await goTo({ page, system }, hash);

const shows = async (text: string | RegExp): Promise<void> => await page.getByText(text).first().waitFor();
const button = (name: string | RegExp) => page.getByRole('button', { name });
const audit = () => page.locator('#parity');

async function saved(name: string): Promise<{ readonly file: string; readonly text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), button(name).click()]);
  return { file: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
}

/** Waits until an audit has ended in every pigeonhole with this result. */
async function untilAudited(result: string): Promise<void> {
  await audit().getByText(result).waitFor();
  await button('Audit now').waitFor();
}

suite('the audit of a sink', () => {
  it('finds what differs at the destination, and repairs it by its plan', async () => {
    const archive = join(system.folder, 'archive');
    const [lost, edited, copied] = readArchive(archive).filter(({ list }) => list === 'attendees');
    await go('#/sink/archive');
    await audit().getByText('This sink was not audited yet.').waitFor();
    await button('Audit now').click();
    await untilAudited('no differences');

    editArchive(archive, (line, { id }) => {
      if (id === lost!.id) return [];
      if (id === edited!.id) return [line.replace(/"Name":"[^"]*"/, '"Name":"Edited"')];
      return id === copied!.id ? [line, line] : [line];
    });
    await button('Audit now').click();
    await untilAudited('3 differences');
    await button('1 changed there').click();
    const row = audit().getByRole('row', { name: new RegExp(`attendees:${edited!.key}\\b.*data\\.Name.*send again`) });
    await row.waitFor();

    await button('Repair 3…').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('send 2 items again').waitFor();
    await dialog.getByText('remove 1 copy with the mark of pigeonpost').waitFor();
    await dialog.getByLabel('Reason').fill('the archive was edited');
    await dialog.getByRole('button', { name: 'Repair' }).click();
    await audit().getByText('no differences').waitFor();
    // A log keeps what was edited, and receives the revision once more, marked as a replay.
    const attendees = readArchive(archive).filter(({ list }) => list === 'attendees');
    const replays = attendees.filter((each) => 'replay' in each);
    expect(replays.map(({ key }) => key).toSorted()).toEqual([lost!.key, edited!.key].toSorted());
    expect(attendees.filter(({ key }) => key === copied!.key)).toHaveLength(1);
    expect(await system.auditedActions()).toEqual(expect.arrayContaining(['audit', 'repair']));
  });
});

suite('the statement of an event', () => {
  it('is made, compares the destinations first, and is saved in three forms', async () => {
    await go('#/sync/acme/101');
    await page.getByRole('link', { name: 'Statement', exact: true }).click();
    await shows('No statement of this event was made yet.');
    expect(await page.getByLabel('Compare with what the destinations hold').isChecked()).toBe(true);
    await button('Make a statement').click();
    await button('Save for printing').waitFor();
    await shows(/^At archive/);
    await shows(/Of \d+ delivered items that were compared with what archive holds, \d+ are there as sent/);
    const { key } = await system.ask<{ key: string }>('/api/statement-key');
    for (const [name, file] of [
      ['Save for printing', 'statement-1.html'],
      ['Save as JSON', 'statement-1.json'],
    ] as const) {
      const download = await saved(name);
      expect(download.file).toBe(file);
      expect(verifyFile(download.text, PublicKey.parse(key)!).result).toBe('valid');
    }
    const differences = await saved('Save the differences');
    expect(differences.file).toBe('statement-1-differences.csv');
    expect(differences.text).toContain('hooks');
  });
});

suite('the dead letters of a sink', () => {
  it('are exported from its page, and from its list those that the filters show', async () => {
    await go('#/sink/hooks');
    const { file, text } = await saved('Export CSV');
    expect([file, text.trim().split('\r\n').length]).toEqual(['hooks-dead-letters.csv', 3]);
    await go('#/deliveries/hooks?show=dead&list=votes');
    expect((await saved('Export CSV')).text.trim().split('\r\n')).toHaveLength(1);
  });
});

suite('these pages', () => {
  it('have no serious finding of axe in both themes, fit on a phone, and load nothing from other hosts', async () => {
    for (const hash of ['#/sink/archive', '#/statements/acme/101']) {
      await go(hash);
      await page.emulateMedia({ colorScheme: 'light' });
      expect([hash, await seriousFindings(page, 'all')]).toEqual([hash, []]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect([hash, await seriousFindings(page, 'color-contrast')]).toEqual([hash, []]);
      await page.setViewportSize({ width: 390, height: 800 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
      await page.setViewportSize({ width: 1280, height: 900 });
    }
    expect([tab.foreign, tab.faults]).toEqual([[], []]);
  });

  it('offer no audit, repair or new statement to a viewer', async () => {
    const viewer = await openTab(browser, await system.link(await system.makeToken('looker', 'viewer')));
    await viewer.page.goto(`${system.url}/#/sink/archive`);
    await viewer.page.locator('#parity').getByText('no differences').waitFor();
    expect(await viewer.page.getByRole('button', { name: /^Audit now|^Start again|^Repair/ }).count()).toBe(0);
    await viewer.page.goto(`${system.url}/#/statements/acme/101`);
    await viewer.page.getByRole('button', { name: 'Save as JSON' }).waitFor();
    expect(await viewer.page.getByRole('button', { name: 'Make a statement' }).count()).toBe(0);
    await viewer.context.close();
  });
});
