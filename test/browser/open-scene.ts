import type { Browser, Page } from 'playwright-core';
import { installedBrowser, openBrowser, openTab, type Watched } from './open-browser.js';
import { RunningSystem } from './running-system.js';

/** A `describe` that is left out if no browser is installed. */
export const suite = installedBrowser === undefined ? describe.skip : describe;

/** A running system and a signed-in tab of a browser. */
export interface Scene {
  readonly system: RunningSystem;
  readonly browser: Browser;
  readonly tab: Watched;
  readonly page: Page;
}

interface SceneOptions {
  readonly open?: () => Promise<RunningSystem>;
  /** Runs before the tab is opened. Returns the link that signs it in; by default the administrator's. */
  readonly link?: (system: RunningSystem) => Promise<string>;
}

/**
 * Opens a scene before the tests of a file, and closes it after them, also if it was opened only in part. Does nothing if no
 * browser is installed.
 * @param opened receives the scene
 */
export function openScene(
  opened: (scene: Scene) => void,
  { open = () => RunningSystem.open(), link = (system) => system.link() }: SceneOptions = {},
): void {
  if (installedBrowser === undefined) return;
  let opening: [Promise<RunningSystem>, Promise<Browser>] | undefined;
  beforeAll(async () => {
    opening = [open(), openBrowser()];
    const [system, browser] = await Promise.all(opening);
    const tab = await openTab(browser, await link(system));
    opened({ system, browser, tab, page: tab.page });
  });
  afterAll(async () => {
    const [system, browser] = await Promise.allSettled(opening ?? []);
    if (browser?.status === 'fulfilled') await browser.value.close();
    if (system?.status === 'fulfilled') await system.value.close();
  });
}

/** Shows a page of the product, and waits until it has its answers. */
export async function goTo({ page, system }: Pick<Scene, 'page' | 'system'>, hash: string): Promise<void> {
  await page.goto(`${system.url}/${hash}`);
  await page.locator('h1').waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
}
