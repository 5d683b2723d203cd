import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * What axe-core finds on the page that keeps somebody from using it: rule and elements, serious or worse.
 * @param rules one of them alone, where the others have been looked at
 */
export async function seriousFindings(page: Page, rules: 'all' | 'color-contrast'): Promise<string[]> {
  // Not as a script of the page, which its policy would not run; once, since only the address's end changes.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  return await page.evaluate(async (only) => {
    const own = (globalThis as unknown as { axe: typeof axe }).axe;
    // What passed is of no interest here, and to describe each of its elements takes most of the time.
    const { violations } = await own.run({
      resultTypes: ['violations'],
      selectors: false,
      ...(only === 'all' ? {} : { runOnly: { type: 'rule', values: [only] } }),
    });
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  }, rules);
}
