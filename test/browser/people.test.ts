import type { Browser, Page } from 'playwright-core';
import { openTab, type Watched } from './open-browser.js';
import { openScene, suite } from './open-scene.js';
import type { RunningSystem } from './running-system.js';
import { seriousFindings } from './serious-findings.js';

/** Tests finding, understanding and forgetting a person in a real browser, by roles that may and one that may not. */
let system: RunningSystem;
let browser: Browser;
let tab: Watched;
let page: Page;
let clicks = 0;

openScene((scene) => ({ system, browser, tab, page } = scene), {
  link: async (running) => await running.link(await running.makeToken('data-protection', 'privacy')),
});

interface Attendee {
  readonly key: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Returns attendees of event 101 as the ledger has them. */
async function attendees(): Promise<readonly Attendee[]> {
  const path = '/api/items/acme/101/attendees?limit=30&personal=1';
  return (await system.ask<{ items: readonly Attendee[] }>(path)).items;
}

const click = async (role: 'link' | 'button' | 'option' | 'radio', name: string | RegExp): Promise<void> => {
  clicks += 1;
  await page.getByRole(role, { name }).first().click();
};

const loaded = async (on = page): Promise<unknown> =>
  await on.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);

const nameOf = ({ data }: Attendee): string => data['Name'] as string;

suite('a person', () => {
  it('is found by e-mail address from any page in three clicks, and their page says who they are', async () => {
    const [person] = await attendees();
    await page.goto(`${system.url}/#/configuration`);
    clicks = 0;
    await click('button', /^Search/);
    await page.getByRole('combobox', { name: /^Search/ }).fill(person!.data['Email'] as string);
    await click('option', /^Search people and questions/);
    await click('option', nameOf(person!));
    await page.getByRole('heading', { level: 1, name: nameOf(person!) }).waitFor();
    expect(clicks).toBeLessThan(5);
    await page
      .getByText(person!.data['Email'] as string)
      .first()
      .waitFor();
    expect(await system.auditedActions()).toContain('show-person');
  });

  it('shows in the same clicks why their contact is missing at a destination', async () => {
    const refused = (await attendees()).find(
      ({ data }) => (data['consent'] as { obtained?: boolean })?.obtained === false,
    )!;
    await page.goto(`${system.url}/#/people`);
    clicks = 0;
    await page.getByLabel('Name, e-mail address or attendee code').fill(refused.data['Email'] as string);
    await click('button', 'Search (audited)');
    await click('link', nameOf(refused));
    const archive = page.getByRole('row', { name: /^archive / });
    await archive.getByText('not there').waitFor();
    await archive.getByText(/consent/i).waitFor();
    await page
      .getByRole('row', { name: /^hooks / })
      .getByText('there', { exact: true })
      .waitFor();
    expect(clicks).toBeLessThan(5);
  });

  it('has no serious accessibility finding, in light and dark, and fits on a phone', async () => {
    const findings: string[] = [];
    for (const hash of [new URL(page.url()).hash, '#/people']) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.goto(`${system.url}/${hash}`);
      await loaded();
      for (const [colorScheme, rules] of [
        ['light', 'all'],
        ['dark', 'color-contrast'],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        findings.push(...(await seriousFindings(page, rules)).map((finding) => `${hash} ${colorScheme}: ${finding}`));
      }
      await page.setViewportSize({ width: 360, height: 740 });
      const isWider = await page.evaluate(
        () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
      );
      if (isWider) findings.push(`${hash} is wider than a phone`);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(findings).toEqual([]);
  });

  it('is forgotten after the counts were confirmed, and each place gives a receipt', async () => {
    const person = (await attendees())[2]!;
    await page.goto(`${system.url}/#/person/acme/101/${person.key}`);
    await page.getByRole('heading', { level: 1, name: nameOf(person) }).waitFor();
    clicks = 0;
    await click('button', 'Forget…');
    const dialog = page.getByRole('dialog', { name: `Forget ${nameOf(person)}?` });
    await dialog.getByText(/^1 event: acme\/101/).waitFor();
    clicks += 1;
    await dialog.getByRole('button', { name: 'Forget', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Forgotten' }).waitFor();
    expect(clicks).toBeLessThan(5);
    await page.getByRole('row', { name: /^The ledger erased/ }).waitFor();
    await page.getByRole('row', { name: /^Sink hooks, event acme\/101 asked to erase/ }).waitFor();
    await page.goto(`${system.url}/#/person/acme/101/${person.key}`);
    await page.getByText('No attendee of this event has this id, or the person was forgotten.').waitFor();
    expect((await attendees()).find(({ key }) => key === person.key)?.data ?? null).toBeNull();
    expect({ foreign: tab.foreign, faults: tab.faults }).toEqual({ foreign: [], faults: [] });
  });

  it('is not shown to a role that may not see people: the page says why, and asks for nothing', async () => {
    const [person] = await attendees();
    const other = await openTab(browser, await system.link(await system.makeToken('on-duty', 'operator')));
    const asked: string[] = [];
    other.page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await other.page.goto(`${system.url}/#/person/acme/101/${person!.key}`);
    await other.page.getByText(/role operator does not show names/).waitFor();
    expect(await other.page.getByRole('button', { name: /Forget|Export/ }).count()).toBe(0);
    expect(await other.page.locator('body').innerText()).not.toContain(nameOf(person!));
    expect(asked.filter((path) => path.startsWith('/api/persons'))).toEqual([]);
    await other.page.goto(`${system.url}/#/sync/acme/101`); // the page of the event is the same, with counts only
    await other.page.getByText(/^\d+ attendees, \d+ questions$/).waitFor();
    await other.page.getByRole('row', { name: /^archive .*consent/ }).waitFor();
    expect(await other.page.locator('body').innerText()).not.toContain(nameOf(person!));
    await other.context.close();
  });
});
