import { z } from 'zod';
import { parseSinks } from '../../config/parse-sinks.js';
import { readDocument } from '../../config/read-document.js';
import { normalizedConfig } from '../../config/normalized-config.js';
import type { Config } from '../../config/config.js';
import { Expression } from './expression.js';
import { expression, expressionsIn } from './expression-schema.js';
import { viewOf } from './view-of.test-kit.js';

/** A property as sinks with mappings define it: a bare expression, or an expression with a write policy. */
const property = z.union([
  expression().transform((value) => ({ value, write: 'always' as const })),
  z.strictObject({ value: expression(), write: z.enum(['always', 'if-empty']) }),
]);
const crm = z.strictObject({
  records: z.array(
    z.strictObject({ from: z.string(), when: expression().optional(), properties: z.record(z.string(), property) }),
  ),
});

function parse(records: string, environment: Record<string, string> = {}): ReturnType<typeof parseSinks> {
  const text = `sinks:\n  crm:\n    type: crm\n    records:\n${records}`;
  return parseSinks(readDocument(text, 'pigeonpost.yaml', { environment, folder: '/' }), { crm });
}

describe('an expression in pigeonpost.yaml', () => {
  it('knows its line and key in each form in which it can be written', () => {
    const { settings, problems } = parse(`      - from: attendees
        when: item.vip
        properties:
          email: $lowercase(item.Email)
          name: { value: item.Name, write: if-empty }
          note: >
            item.a &
            item.b
`);
    expect(problems).toEqual([]);
    expect(expressionsIn(settings['crm']).map(({ expression: { place } }) => place)).toEqual([
      { line: 6, key: 'sinks.crm.records[0].when' },
      { line: 8, key: 'sinks.crm.records[0].properties.email' },
      { line: 9, key: 'sinks.crm.records[0].properties.name.value' },
      { line: 10, key: 'sinks.crm.records[0].properties.note' },
    ]);
  });

  it('reports its line and item if it fails', async () => {
    const { settings } = parse('      - { from: attendees, properties: { n: $number(item.n) } }\n');
    const [{ expression: n, key }] = expressionsIn(settings['crm']) as [ReturnType<typeof expressionsIn>[0]];
    await expect(n.evaluate(viewOf({ n: 'x' }), `crm.${key}`)).rejects.toThrow(
      'crm.records[0].properties.n.value (line 5 of the configuration) for questions:9001 failed: D3030, a value is not a number',
    );
  });

  it('from a variable is not quoted in a problem', () => {
    const text = '      - from: attendees\n        when: "${SECRET}"\n        properties: {}\n';
    for (const SECRET of ['hidden-word-7 hidden-word-8', '$hidden_word(1)', 'a.hidden_word(', '"hidden_word']) {
      const { problems } = parse(text, { SECRET });
      expect(problems).toMatchObject([{ key: 'sinks.crm.records[0].when' }]);
      expect(problems[0]!.message).not.toMatch(/hidden/);
    }
  });

  it.each([
    ['$lowercase(item.Email', 'is not a usable expression: Expected ")" before end of expression'],
    ['$fild("Email")', 'is not a usable expression: there is no function $fild (at character 5)'],
  ])('with an error is reported at its key: %s', (text, message) => {
    const { problems } = parse(`      - from: attendees\n        when: ${text}\n        properties: {}\n`);
    expect(problems).toMatchObject([{ line: 6, key: 'sinks.crm.records[0].when' }]);
    expect(problems[0]!.message).toContain(message);
  });

  it('can come from the environment', () => {
    const { settings } = parse('      - { from: a, properties: { x: "${MAPPING}" } }\n', { MAPPING: 'item.Email' });
    expect(expressionsIn(settings['crm'])[0]!.expression.text).toBe('item.Email');
  });

  it('is compared by its text, regardless of its line', () => {
    const configOf = (records: string): unknown =>
      normalizedConfig(
        {
          workspaces: {},
          syncs: {},
          sinks: { crm: { type: 'crm', settings: parse(records).settings['crm'] } },
        } as unknown as Config,
        (secret) => secret,
      );
    const one = configOf('      - { from: a, properties: { x: item.Email } }\n');
    expect(JSON.stringify(one)).toContain('"item.Email"');
    expect(configOf('\n      - { from: a, properties: { x: item.Email } }\n')).toEqual(one);
    expect(configOf('      - { from: a, properties: { x: item.Mail } }\n')).not.toEqual(one);
  });

  it('becomes an Expression', () => {
    expect(expression().parse('item.Email')).toBeInstanceOf(Expression);
    expect(expression().safeParse(7).success).toBe(false);
  });
});
