import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sinkTypes, writeConfiguration } from '../cli/init/write-configuration.js';
import { example } from './example.test-kit.js';
import { problemsOf, smallest, smallestEnvironment, smallestWith } from './load-text.test-kit.js';
import { publishedSchema } from './published-schema.js';
import { allSinkSchemas, editorProblems } from './published-schema.test-kit.js';

const fileAt = (path: string) => readFileSync(join(__dirname, '..', path), 'utf8');

describe('docs/pigeonpost.schema.json', () => {
  it('is what tools/write-configuration-reference.mjs writes, so run "npm run docs" after a change', () => {
    expect(JSON.parse(fileAt('docs/pigeonpost.schema.json'))).toEqual(publishedSchema(allSinkSchemas));
  });

  it.each([
    ['the example of the complete contract', example],
    ['the configuration for containers', fileAt('deploy/pigeonpost.yaml')],
    ['the smallest file', smallest],
    ['a file with empty groups', `${smallest}retention:\nalerts:\nimports:\n`],
  ])('accepts %s', (_what, text) => {
    expect(editorProblems(text)).toEqual([]);
  });

  it.each(sinkTypes)('accepts what "init" writes for a sink of type %s', (type) => {
    const sink = { type, destination: 'https://example.com', secretVariable: 'SECRET' };
    for (const pigeonholes of ['all', { ids: [101] }, { statuses: ['live'] }] as const) {
      const answers = { service: 'https://api.example.com', keyVariable: 'KEY', pigeonholes, sink };
      expect(editorProblems(writeConfiguration(answers, { port: 8089 }))).toEqual([]);
    }
  });

  it.each([
    ['an unknown key', { append: 'retentions: {}\n' }, 'must NOT have additional properties'],
    ['a missing key', { replace: '    workspace: acme\n', by: '' }, "must have required property 'workspace'"],
    ['a secret', { replace: '${ACME_API_KEY}', by: 'sk-live-1' }, '/workspaces/acme/apiKey: must match pattern'],
    ['a type of sink that does not exist', { replace: 'type: file', by: 'type: files' }, '/sinks/archive/type: '],
    ['a key of another type of sink', { append: '    token: ${T}\n' }, '/sinks/archive: must NOT have additional'],
    ['a group as a list', { replace: 'sinks: [archive]', by: 'sinks: archive' }, '/sinks: must be array'],
    ['a duration without a unit', { append: 'retention: { changes: "30" }\n' }, '/retention/changes: must match'],
    ['a number that is too large', { append: 'server: { port: 80880 }\n' }, '/server/port: must be <= 65535'],
    ['a text as a number', { append: 'server: { port: "8088" }\n' }, '/server/port: must be integer'],
    ['a word that is not allowed', { append: '    mode: observed\n' }, '/sinks/archive/mode: must be equal to one of'],
    ['a name with a space', { replace: '  acme:', by: '  our acme:' }, '/workspaces: property name must be valid'],
    ['an entry twice', { replace: '[archive]', by: '[archive, archive]' }, 'must NOT have duplicate items'],
    ['no http address', { replace: 'https://engagement', by: 'engagement' }, '/baseUrl: must match pattern'],
  ] as const)('points out %s, as the loader does', async (_what, change, problem) => {
    const text = smallestWith(change);
    expect(await problemsOf(text, { ...smallestEnvironment, T: 't' })).not.toEqual([]);
    expect(editorProblems(text).join('\n')).toContain(problem);
  });

  it('accepts a reference in the place of any value', () => {
    const text = `${smallest}    mode: \${MODE:-observe}\n    history: \${HISTORY}\nserver: { port: "\${PORT}" }\n`;
    expect(editorProblems(text)).toEqual([]);
  });
});
