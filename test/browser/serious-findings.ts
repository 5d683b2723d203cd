import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * Returns the accessibility findings of axe-core with a serious or critical impact, each with its rule and elements.
 * @param rules `color-contrast` checks this rule only, since the others do not depend on the colour scheme
 */
export async function seriousFindings(page: Page, rules: 'all' | 'color-contrast'): Promise<string[]> {
  // Evaluated instead of added as a script, which the page's policy would block. Once: a new fragment does not reload the page.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  return await page.evaluate(async (only) => {
    const own = (globalThis as unknown as { axe: typeof axe }).axe;
    // Violations only: describing every element that passed takes most of the time.
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
