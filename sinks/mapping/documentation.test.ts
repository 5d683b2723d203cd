import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampleChange } from '../sample-change.test-kit.js';
import { evaluationLimits } from './evaluation-limits.js';
import { Expression } from './expression.js';
import { mappingFunctions, withheldFunctions } from './mapping-functions.js';
import { viewOf } from './view-of.test-kit.js';

const page = readFileSync(join(__dirname, '../../docs/mapping.md'), 'utf8');
const shown = JSON.parse(/```json\n([^]*?)```/.exec(page)![1]!) as Record<string, Record<string, unknown>>;
const view = viewOf(shown['item']!, {
  attendee: shown['attendee']!,
  pigeonhole: shown['pigeonhole']!,
  change: sampleChange({ timestamp: /found at\n`([^`]+)`/.exec(page)![1]!, data: shown['item']! }),
});
/** The rows of the tables "expression, gives". */
const examples = [...page.matchAll(/^\| `(.+)` \| (?:`(.+)`|nothing) \|$/gm)]
  .map(([, text, value]) => [text!, value ?? 'nothing'] as const)
  .filter(([text]) => !page.includes(`| \`${text}\` | The `));

describe('docs/mapping.md', () => {
  it.each(examples)('shows correctly that %s gives %s', async (text, expected) => {
    const value = await new Expression(text).evaluate(view, 'docs');
    expect(value === undefined ? 'nothing' : JSON.stringify(value)).toBe(expected);
  });

  it('has an example of each function, and names the unavailable ones', () => {
    const own = Object.keys(mappingFunctions).filter((name) => !['pad', 'millis'].includes(name));
    expect(own.filter((name) => !examples.some(([text]) => text.includes(`$${name}(`)))).toEqual([]);
    expect(Object.keys(withheldFunctions).filter((name) => !page.includes(`\`$${name}\``))).toEqual([]);
  });

  it('states the actual limits', () => {
    const { steps, depth, entries, characters } = evaluationLimits;
    expect(page).toContain(`${steps.toLocaleString('en-US')} steps, ${depth} nested calls`);
    expect(page).toContain(`lists of ${entries.toLocaleString('en-US')} entries`);
    expect([characters, page.includes('one million characters')]).toEqual([1_000_000, true]);
  });
});
