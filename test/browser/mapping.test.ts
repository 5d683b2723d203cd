import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type SlackDouble, startSlackDouble } from '../../sandbox/slack/start-slack-double.js';
import type { Watched } from './open-browser.js';
import { openScene, suite } from './open-scene.js';
import { RunningSystem } from './running-system.js';
import { seriousFindings } from './serious-findings.js';

/** Fixes a mapping and connects a destination in a real browser, against a `pigeonpost start` on the sandbox. */
let system: RunningSystem;
let slack: SlackDouble | undefined;
let tab: Watched;
let page: Page;
let clicks = 0;

openScene((scene) => ({ system, tab, page } = scene), {
  async open() {
    slack = await startSlackDouble({ profile: 'established' });
    return await RunningSystem.open({
      environment: { SLACK_BOT_TOKEN: 'xoxb-double' },
      sinks: { 'all-votes': misspelled(slack.url) },
    });
  },
});
afterAll(async () => await slack?.close());

/** Reads a field that no question has, so that nothing is sent. */
function misspelled(url: string): string {
  return [
    '',
    '    type: slack',
    '    token: ${SLACK_BOT_TOKEN}',
    `    baseUrl: "${url}/api" # stand-in`,
    '    channel: C0123456789',
    '    # what people ask',
    '    messages:',
    '      - from: qna-questions',
    '        text: item.contents',
  ].join('\n');
}

const file = (): string => readFileSync(join(system.folder, 'pigeonpost.yaml'), 'utf8');
const shows = async (text: string | RegExp): Promise<void> => await page.getByText(text).first().waitFor();

async function press(name: string | RegExp, within: Page | ReturnType<Page['getByRole']> = page): Promise<void> {
  clicks += 1;
  await within.getByRole('button', { name, disabled: false }).first().click();
}

suite('a mapping that withholds everything', () => {
  it('is fixed with what the page shows while one types, in fewer than five clicks', async () => {
    clicks = 0;
    await page.goto(`${system.url}/#/mapping/all-votes`);
    await shows(/qna-questions \d+: \d+ match, 0 would be sent/);
    await shows(/item\.contents/);
    const area = page.getByRole('textbox', { name: 'Mapping of all-votes' });
    const text = await area.inputValue();
    expect(text).toMatch(/^# what people ask\nmessages:/);

    await area.fill(text.replace('item.contents', 'item.content & $nothing()'));
    await page.getByRole('button', { name: 'Line 4' }).waitFor();
    await shows(/\$nothing/);
    await area.fill(text.replace('item.contents', 'item.content'));
    await shows(/[1-9]\d* would be sent/);
    await shows('chat.postMessage');
    expect(await seriousFindings(page, 'all')).toEqual([]);

    await press('Save as a draft');
    await press('Apply…');
    await press('Apply', page.getByRole('dialog'));
    await shows(/configuration \d+ is running/i);
    expect(clicks).toBeLessThan(5);
    expect(file()).toContain(
      '    # what people ask\n    messages:\n      - from: qna-questions\n        text: item.content\n',
    );
    expect(file()).toContain('# stand-in');
  });

  it('shows an item as expressions see it only on request, which is audited', async () => {
    const isPersonal = (action: string): boolean => action === 'preview-personal';
    expect((await system.auditedActions()).filter(isPersonal)).toEqual([]);
    await page.getByRole('checkbox', { name: /Show names and texts/ }).check();
    await page.locator('#item details[open] pre').waitFor();
    await page.getByRole('button', { name: 'Next item' }).click();
    await page.waitForURL(/item=qna-questions/);
    await page.waitForFunction(() => document.querySelector('.tried')?.getAttribute('aria-busy') === 'false');
    expect((await system.auditedActions()).filter(isPersonal)).toHaveLength(2);
  });
});

suite('connecting Slack', () => {
  it('offers the channels, checks the token, shows three items, and needs fewer than five clicks', async () => {
    clicks = 0;
    await page.goto(`${system.url}/#/connect`);
    clicks += 1;
    await page.getByRole('link', { name: /^Slack/ }).click();
    await shows('pigeonpost sees ${SLACK_BOT_TOKEN}');
    clicks += 1;
    await page.getByRole('combobox', { name: 'Channel' }).selectOption({ label: '#questions' });
    await shows('Slack accepts the token');
    await page.locator('.proposed .example').nth(2).waitFor();
    expect(await seriousFindings(page, 'all')).toEqual([]);
    await press(/^Connect Slack/);
    await press('Apply', page.getByRole('dialog'));
    await shows('questions-channel is connected');
    expect(clicks).toBeLessThan(5);
    expect(file()).toMatch(/ {2}questions-channel: # messages .*\n {4}type: slack\n {4}mode: observe/);
    expect(file()).not.toContain('xoxb-double');
    expect(tab.foreign).toEqual([]);
    expect(tab.faults).toEqual([]);
  });
});
