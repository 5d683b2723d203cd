import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { editorProblems } from '../../config/published-schema.test-kit.js';
import { localhostCertificate } from '../../sinks/network/localhost-certificate.test-kit.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';

const docs = join(__dirname, '../../docs');
const pages = (readdirSync(docs, { recursive: true }) as string[]).filter((path) => path.endsWith('.md'));

interface Block {
  readonly page: string;
  readonly number: number;
  readonly text: string;
}
type Tree = Record<string, unknown>;

/** Top-level keys of a file. A block with one of them is a part of a file. */
const fileKeys = [
  'workspaces',
  'syncs',
  'sinks',
  'imports',
  'store',
  'temporal',
  'server',
  'alerts',
  'retention',
  'telemetry',
  'network',
];

/** Returns the YAML blocks of a page with their indentation. */
function blocksOf(page: string): Block[] {
  const text = readFileSync(join(docs, page), 'utf8');
  return [...text.matchAll(/^ *```yaml\n([^]*?)^ *```$/gm)].map(([, block], at) => ({
    page,
    number: at + 1,
    text: block!,
  }));
}

const workspaces = { acme: { baseUrl: 'https://api.example.com', apiKey: '${ENGAGEMENT_API_KEY}' } };

/**
 * Returns a complete configuration with a block: a file is unchanged; sinks, or another part of a file, are completed;
 * records or keys of a sink replace those of the page's first sink.
 */
function whole(block: Block, first: Tree | undefined): Tree | undefined {
  const tree = parse(block.text) as unknown;
  const isFile = typeof tree === 'object' && tree !== null && fileKeys.some((key) => key in tree);
  if (isFile) {
    const file = tree as { sinks?: Tree };
    const sinks = file.sinks ?? { archive: { type: 'file', folder: './archive' } };
    return { workspaces, syncs: { events: { workspace: 'acme', sinks: Object.keys(sinks) } }, ...file, sinks };
  }
  if (first === undefined) return undefined;
  const [[name, sink]] = Object.entries(first['sinks'] as Record<string, Tree>) as [[string, Tree]];
  const keys = Array.isArray(tree) ? { records: tree as unknown[] } : (tree as Tree);
  const token =
    'webhookUrl' in keys ? { token: undefined, channel: undefined } : 'rotation' in keys ? { token: undefined } : {};
  return { ...first, sinks: { [name]: { ...sink, ...token, ...keys } } };
}

const examples = pages.flatMap((page) => {
  const blocks = blocksOf(page).filter(({ text }) => !isOfAnotherProduct(text));
  const [head] = blocks;
  const first = head && whole(head, undefined);
  return blocks.flatMap((block) => {
    const config = whole(block, first);
    return config === undefined ? [] : [[`${page}, block ${block.number}`, config] as const];
  });
});

/** Whether a text is Slack's manifest or a file for "pigeonpost apply", which other tests load. */
function isOfAnotherProduct(text: string): boolean {
  return /display_information:|^pigeonhole:$/m.test(text);
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const folder = mkdtempSync(join(tmpdir(), 'guides-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the guides', () => {
  it('have an example of every sink type', () => {
    const types = examples.flatMap(([, { sinks }]) =>
      Object.values(sinks as Record<string, Tree>).map(({ type }) => type),
    );
    expect([...new Set(types.map(String))].toSorted()).toEqual([
      'canvas',
      'dynamics',
      'file',
      'http',
      'hubspot',
      'postgres',
      's3',
      'salesforce',
      'slack',
      'webhook',
      'xapi',
    ]);
  });

  it.each(examples)('show valid configurations: %s', async (_where, config) => {
    const text = stringify(config, { keepUndefined: false }).replaceAll(
      /\/(?:run\/secrets|etc\/pigeonpost)\/([\w.-]+)/g,
      (_path, name: string) => {
        const isKey = /key|sf\.pem/.test(name);
        writeFileSync(
          join(folder, name),
          isKey ? privateKey.export({ format: 'pem', type: 'pkcs8' }) : localhostCertificate,
        );
        return join(folder, name);
      },
    );
    const variables = Object.fromEntries([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name!, valueOf(name!)]));
    writeFileSync(join(folder, 'pigeonpost.yaml'), text);
    const loaded = await loadProcessConfig(join(folder, 'pigeonpost.yaml'), variables);
    expect(loaded.warnings).toEqual([]);
    expect(editorProblems(text)).toEqual([]);
  });

  it('name existing files and functions on the path from a page to a message', () => {
    const { text, steps } = pathInTheCode();
    expect(steps.length).toBeGreaterThan(15);
    expect(steps.length).toBeLessThanOrEqual(30);
    expect(text).toContain(`these ${steps.length} files`);
    for (const [file, name] of steps) {
      expect(readFileSync(join(docs, '..', file), 'utf8')).toMatch(new RegExp(`(?:function|class) ${name}\\b`));
    }
  });

  it('say about how much there is to read on that path', () => {
    const { text, steps } = pathInTheCode();
    const path = new Set(steps.map(([file]) => file));
    const beside = new Set([...path].flatMap(valuesFrom).filter((file) => !path.has(file)));
    const said = [/these \d+ files \(([\d,]+) lines/, /values from (\d+) others/, /others \(([\d,]+) lines/].map(
      (count) => Number(count.exec(text)![1]!.replace(',', '')),
    );
    const counted = [linesOf(path), beside.size, linesOf(beside)];
    const differing = counted.filter((count, n) => Math.abs(count / said[n]! - 1) > 0.1);
    expect({ said, differing }).toEqual({ said, differing: [] });
  });
});

/** Returns the text of the page about the path from a page to a message, and the files and functions of its table. */
function pathInTheCode(): {
  readonly text: string;
  readonly steps: readonly (readonly [file: string, name: string])[];
} {
  const text = readFileSync(join(docs, 'how-it-works.md'), 'utf8');
  const rows = text.matchAll(/^\| `([\w/-]+\.ts)` \| `(\w+)` \|/gm);
  return { text, steps: [...rows].map(([, file, name]) => [file!, name!] as const) };
}

/** Returns the files from which a file imports more than types. */
function valuesFrom(file: string): string[] {
  const imports = readFileSync(join(docs, '..', file), 'utf8').matchAll(
    /^import (?!type )([^;]*?) from '(\.[^']+)\.js';/gm,
  );
  return [...imports]
    .filter(([, names]) =>
      names!
        .replaceAll(/[{}]/g, '')
        .split(',')
        .some((name) => /^(?!type )\w/.test(name.trim())),
    )
    .map(([, , path]) => join(dirname(file), `${path!}.ts`));
}

function linesOf(files: ReadonlySet<string>): number {
  return [...files].reduce((sum, file) => sum + readFileSync(join(docs, '..', file), 'utf8').split('\n').length - 1, 0);
}

/** Returns a valid value for the key of a variable. */
function valueOf(name: string): string {
  if (/(HOOK|ALERT)_SECRET/.test(name)) return `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  if (name === 'TEAMS_WORKFLOW_URL') return 'https://flows.example.com/run?sig=x';
  if (name === 'SLACK_WEBHOOK_URL') return 'https://hooks.slack.com/services/T0/B0/x';
  if (name.endsWith('_URL')) return 'postgres://reader@db.example.com/warehouse';
  return 'a-value';
}
