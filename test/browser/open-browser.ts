import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** Paths of installed browsers. Nothing is downloaded. */
const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export const installedBrowser = places.find((file) => existsSync(file));

/** Like the limit of `until`: a test fails by it only if the condition never becomes true. */
const longMs = 120_000;

export async function openBrowser(): Promise<Browser> {
  return await chromium.launch({
    timeout: longMs,
    executablePath: installedBrowser!,
    // A container has no user for the sandbox, no display and little shared memory.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
  });
}

/** A tab, with recorded events that must never happen. */
export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Requested addresses of hosts other than the page's own. */
  readonly foreign: string[];
  /** Exceptions, dialogs and violations of the page's content security policy. */
  readonly faults: string[];
}

/** Selects the button of the page that a sign-in link leads to. */
export async function confirmSignIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Sign in as / }).click();
  await page.waitForURL((to) => !to.searchParams.has('code') && !to.pathname.endsWith('/sign-in'));
}

export async function openTab(browser: Browser, url: string, width = 1280): Promise<Watched> {
  const { origin } = new URL(url);
  const context = await browser.newContext({ viewport: { width, height: 900 }, acceptDownloads: true });
  context.setDefaultTimeout(longMs);
  const page = await context.newPage();
  const foreign: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !/^(?:blob|data):/.test(request.url())) foreign.push(request.url());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) faults.push(message.text());
  });
  page.on('dialog', (dialog) => {
    faults.push(`a dialog says ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  await page.goto(url);
  if (new URL(url).searchParams.has('code')) await confirmSignIn(page);
  return { page, context, foreign, faults };
}
