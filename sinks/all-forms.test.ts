import { loadConfigText } from '../config/load-config.js';
import { allSinks } from './all-sinks.js';
import { sinkForms } from './all-forms.js';
import { fieldOf, inYaml, seenField, seenProperties } from './connect.js';

const sinkSchemas = Object.fromEntries([...allSinks].map(([type, { configSchema }]) => [type, configSchema]));

async function load(lines: readonly string[], environment: Readonly<Record<string, string>>): Promise<unknown> {
  const text = [
    'workspaces: { acme: { baseUrl: "https://engagement.example.com", apiKey: "${KEY}" } }',
    'syncs: { events: { workspace: acme, sinks: [new] } }',
    'sinks:',
    '  new:',
    ...lines.map((line) => `    ${line}`),
  ].join('\n');
  const place = { shownFile: 'pigeonpost.yaml', absoluteFile: '/tmp/pigeonpost.yaml' };
  const { sinks } = await loadConfigText(text, place, { KEY: 'key', ...environment }, { sinkSchemas });
  return sinks['new']!.settings;
}

describe.each(Object.entries(sinkForms))('the form of %s', (type, form) => {
  const answers = Object.fromEntries(
    form.fields.flatMap(({ key, kind, standIn, suggested }) =>
      standIn === '' ? [] : [[key, kind === 'secret' ? `\${${suggested}}` : standIn]],
    ),
  );
  const environment = Object.fromEntries(
    form.fields.flatMap(({ kind, standIn, suggested }) => (kind === 'secret' ? [[suggested!, standIn]] : [])),
  );

  it('writes a valid sink, whether or not fields of items are known', async () => {
    await expect(load(form.lines(answers, {}), environment)).resolves.toBeDefined();
    const seen = { attendees: ['E-mail', 'Full name', 'Name', 'Job title', 'Company'] };
    await expect(load(form.lines(answers, seen), environment)).resolves.toBeDefined();
  });

  it('asks for secrets only by names that belong to its type, and begins with the type', () => {
    const secrets = form.fields.filter(({ kind }) => kind === 'secret');
    expect(secrets.every(({ suggested }) => suggested?.startsWith(form.secrets ?? '-') === true)).toBe(true);
    expect(form.lines(answers, {})[0]).toBe(`type: ${type}`);
  });

  it('writes no answer of a person where it could become another key', async () => {
    const texts = form.fields.filter(({ kind }) => kind !== 'secret').map(({ key }) => key);
    for (const key of texts) {
      const lines = form.lines({ ...answers, [key]: `x", y: "z' } #\\` }, {});
      const keys = (found: readonly string[]) =>
        found.filter((line) => /^\w+:/.test(line)).map((line) => line.split(':')[0]);
      expect(keys(lines)).toEqual(expect.arrayContaining(keys(form.lines(answers, {}))));
      await load(lines, environment).catch((error: unknown) => expect(String(error)).not.toContain('this is not YAML'));
    }
  });
});

describe('a proposed mapping', () => {
  it('reads the fields that stored items have, whatever their spelling', () => {
    expect(fieldOf(['e_mail'], ['Email', 'E-mail'])).toBe('e_mail');
    expect(fieldOf(['Work e-mail'], ['Work E-Mail'])).toBe('`Work e-mail`');
    expect(fieldOf(undefined, ['Email'])).toBe('Email');
    expect(seenField(['Phone'], ['Mail'])).toBeUndefined();
    expect(
      seenProperties(
        ['Job title'],
        [
          ['jobtitle', ['Job title']],
          ['phone', ['Phone']],
        ],
      ),
    ).toEqual(['jobtitle: item.`Job title`']);
  });

  it('is quoted where YAML would read something else', () => {
    expect(inYaml('item.Name')).toBe('item.Name');
    expect(inYaml('item.`a: b`')).toBe("'item.`a: b`'");
    expect(inYaml("item.`it's`")).toBe("'item.`it''s`'");
  });
});
