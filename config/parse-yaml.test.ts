import { ConfigError } from './config-error.js';
import { isNestedDeeper } from '../base/json-depth.js';
import { errorOf, smallestWith } from './load-text.test-kit.js';
import { yamlLimits } from './parse-yaml.js';
import { readDocument } from './read-document.js';

function refusalOf(text: string): ConfigError {
  try {
    readDocument(text, 'pigeonpost.yaml', null);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('the text was accepted');
}

// Without these limits, a parser takes minutes for some of the texts below, or ends the process.
describe('a text that is nested too deeply', () => {
  it.each([
    ['braces', '{'.repeat(100_000)],
    ['brackets', '['.repeat(600_000)],
    ['closed brackets', `${'['.repeat(300_000)}${']'.repeat(300_000)}`],
    ['keys in braces', '{a: '.repeat(100_000)],
    ['both', '[{'.repeat(200_000)],
    ['dashes', '- '.repeat(50_000)],
    ['question marks', '? '.repeat(50_000)],
    ['indented keys', Array.from({ length: 1000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
  ])('with %s is refused with its line before it is parsed', (_, text) => {
    const error = refusalOf(text);
    expect(error.message).toMatch(/^pigeonpost\.yaml:\d+: lists and groups are nested more than 50 levels deep/);
  });

  it('is accepted up to the limit', () => {
    const levels = yamlLimits.depth - 1;
    const { tree } = readDocument(`a: ${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}`, 'pigeonpost.yaml', null);
    expect(tree).toHaveProperty('a');
  });
});

describe('an oversized text', () => {
  it.each([
    ['characters', `a: ${'x'.repeat(yamlLimits.characters)}`, 'the file is larger than 1,000,000 characters'],
    ['keys', Array.from({ length: 90_000 }, (_, n) => `k${n}: 1`).join('\n'), 'more than 200,000 words and signs'],
    ['anchors', '&a '.repeat(300_000), 'more than 200,000 words and signs'],
    ['lines', '\n'.repeat(900_000), 'more than 200,000 words and signs'],
    ['references', `a: &a [x, x]\nb:\n${'- *a\n'.repeat(150_000)}`, 'more than 200,000 words and signs'],
    ['errors', ']\n'.repeat(200_000), 'this is not YAML'],
    ['bad escapes', `a: "${'\\q'.repeat(490_000)}"`, 'inside "…" a backslash is written twice'],
    ['bad escapes, each in a value', `${'a: "\\q"\n'.repeat(20_000)}`, 'inside "…" a backslash is written twice'],
    ['bad tags', `a: [${'!<x '.repeat(60_000)}]`, 'this is not YAML'],
  ])('is refused because of its %s', (_, text, message) => {
    const since = process.cpuUsage();
    const error = refusalOf(text);
    expect(error.message).toContain(message);
    expect(process.cpuUsage(since).user / 1000).toBeLessThan(5000); // half a million errors took 20 s
  });

  it('with references to references is refused before they multiply', () => {
    const bomb = ['a: &a [x, x]', 'b: &b [*a, *a]', 'c: &c [*b, *b]', 'd: [*c, *c]'].join('\n');
    const { problems } = readDocument(bomb, 'pigeonpost.yaml', null);
    expect(problems).toHaveLength(6);
    expect(problems[0]!.message).toContain('YAML aliases are not supported');
  });
});

describe('a configuration with thousands of problems', () => {
  it('lists only the first hundred', async () => {
    const sinks = Array.from({ length: 5000 }, (_, n) => `  s${n}: { type: webhook }\n`).join('');
    const error = await errorOf(smallestWith({ append: sinks }));
    const lines = error!.message.split('\n');
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)).toMatch(/^\S+: \d+ more problems are not listed$/);
  });
});

describe('the depth of a JSON text', () => {
  it.each([
    ['{"a":[{"b":1}]}', 3, false],
    ['{"a":[{"b":1}]}', 2, true],
    ['["[[[[{{{{\\"[[[[", {}]', 2, false],
    ['[[],[],[]]', 2, false],
    ['['.repeat(1_000_000), 20, true],
    ['"never closed [[[', 0, false],
  ])('%.40s exceeds %d levels: %s', (text, levels, deeper) => {
    expect(isNestedDeeper(text, levels)).toBe(deeper);
  });
});
