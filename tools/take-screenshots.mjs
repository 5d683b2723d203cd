// Takes the pictures of the guides into docs/images/. Start the demo with `npm start` and wait until it has settled. Give its
// receiver of webhooks something to refuse (`curl RECEIVER/_control/answers -d '{"status": 422, "list": "attendees", "count": 12}'`,
// the address is in demo-data/pigeonpost.yaml), import a file with `pigeonpost --config demo-data/pigeonpost.yaml import`, then run
// `node tools/take-screenshots.mjs 'http://127.0.0.1:8088/?code=…' hooks 1`: a link of `pigeonpost open`, the name of a sink with
// dead letters, and the number of an import. A fourth argument limits it to the pictures that it names, as in "sink-dark,import-light". A fifth
// names the item of `item-light`.
import { mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';

if (process.argv.includes('--help')) {
  console.log(
    'usage: node tools/take-screenshots.mjs LINK [SINK (crm)] [IMPORT (1)] [PICTURE,…] [ITEM (questions/9001?pigeonhole=sandbox%2F101)]',
  );
  process.exit(0);
}
const [link, sink = 'crm', imported = '1', only = '', item = 'questions/9001?pigeonhole=sandbox%2F101'] =
  process.argv.slice(2);
const pictures = [
  { name: 'overview-light', hash: '#/', colorScheme: 'light', height: 860 },
  { name: 'live-light', hash: '#/live', colorScheme: 'light', height: 860 },
  { name: 'item-light', hash: `#/item/${item}`, colorScheme: 'light', height: 860 },
  { name: 'sink-dark', hash: `#/sink/${sink}`, colorScheme: 'dark', height: 860 },
  { name: 'import-light', hash: `#/imports/${imported}`, colorScheme: 'light', height: 640 },
  { name: 'overview-phone', hash: '#/', colorScheme: 'light', height: 844, width: 390 },
];

mkdirSync('docs/images', { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
const signIn = await browser.newContext();
const first = await signIn.newPage();
await first.goto(link);
await first.getByRole('button', { name: /^Sign in as / }).click();
await first.waitForURL((to) => !to.pathname.endsWith('/sign-in'));
const storageState = await signIn.storageState();
const url = new URL(link).origin;
const wanted = pictures.filter(({ name }) => only === '' || only.split(',').includes(name));
for (const { name, hash, colorScheme, height, width = 1280 } of wanted) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, storageState });
  await page.goto(`${url}/${hash}`);
  await page.waitForFunction(() => document.querySelector('main [aria-busy="true"]') === null, null, {
    timeout: 240_000,
  });
  if (name === 'live-light') {
    // Changes of the last seconds fill the picture.
    await page.getByText('following').waitFor({ timeout: 60_000 });
    await page.waitForTimeout(15_000);
  }
  await page.screenshot({ path: `docs/images/${name}.png` });
  await page.close();
}
await browser.close();
