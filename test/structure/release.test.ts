import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

const root = resolve(__dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const { version, description } = JSON.parse(read('package.json')) as { version: string; description: string };

describe('the image', () => {
  it('says what it is, and lists its packages', () => {
    const text = read('Dockerfile');
    expect(text).toContain(`ARG VERSION=${version}\n`);
    for (const [label, value] of [
      ['title', 'pigeonpost'],
      ['description', description],
      ['version', '${VERSION}'],
      ['licenses', 'MIT'],
    ])
      expect(text).toContain(`org.opencontainers.image.${label}="${value}"`);
    expect(text).toContain('npm sbom --sbom-format=cyclonedx --omit=dev > sbom.cdx.json');
    expect(text).toContain('COPY --from=build /app/sbom.cdx.json ./');
  });

  it('is taken from a registry by one variable for every service that runs it', () => {
    interface Compose {
      readonly services: Readonly<Record<string, { readonly image?: string; readonly pull_policy?: string }>>;
    }
    const own = (path: string) =>
      parse(read(path), { merge: true, customTags: [{ tag: '!reset', resolve: () => null }] }) as Compose;
    const built = Object.entries(own('docker-compose.yml').services).filter(
      ([, { image }]) => image === 'pigeonpost:local',
    );
    const overridden = own('deploy/docker-compose.image.yml').services;
    expect(Object.keys(overridden).toSorted()).toEqual(built.map(([name]) => name).toSorted());
    for (const service of Object.values(overridden)) {
      expect(service).toMatchObject({ image: '${PIGEONPOST_IMAGE:?name the image}', pull_policy: 'missing' });
    }
  });
});

const chart = join(root, 'deploy/helm/pigeonpost');
const helm = ['helm', join(homedir(), 'go/bin/helm')].find((program) => spawnSync(program, ['version']).status === 0);

describe('the Helm chart', () => {
  it('is of this version', () => {
    expect(parse(read('deploy/helm/pigeonpost/Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });

  it('describes every value', () => {
    const text = read('deploy/helm/pigeonpost/values.yaml').replace(
      /^configuration: \|\n(?: .*\n|\n)*/m,
      'configuration: |\n',
    );
    const groups = /^(?:image|networkPolicy):|^ {2}(?:replicas|resources):|^ {4}/;
    const lines = text.split('\n');
    const undescribed = lines.filter(
      (line, at) => /^ *[a-zA-Z]+:/.test(line) && !groups.test(line) && !/^ *#/.test(lines[at - 1] ?? ''),
    );
    expect(undescribed).toEqual([]);
  });
});

if (helm === undefined) {
  it.skip('helm is not installed (go install helm.sh/helm/v3/cmd/helm@latest), so the chart was not rendered', () =>
    undefined);
}

(helm === undefined ? describe.skip : describe)('the rendered Helm chart', () => {
  const run = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(helm!, [...args], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr || stdout);
    return stdout;
  };
  const documents = (text: string): Manifest[] =>
    parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
  const rendered = (...args: readonly string[]) => documents(run('template', 'pigeonpost', chart, ...args));

  it('passes helm lint', () => {
    expect(run('lint', '--strict', chart)).toContain('0 chart(s) failed');
  });

  it('is what the manifests in deploy/kubernetes say', () => {
    const folder = join(root, 'deploy/kubernetes');
    const plain = readdirSync(folder)
      .flatMap((name) => documents(readFileSync(join(folder, name), 'utf8')))
      .filter(({ kind }) => kind !== 'Secret');
    expect(comparable(rendered())).toEqual(comparable(plain));
  });

  it('takes the image by its digest, more replicas, and a configuration file', () => {
    expect(existsSync(join(root, 'deploy/pigeonpost.yaml'))).toBe(true);
    const found = JSON.stringify(
      rendered(
        '--set',
        'image.digest=sha256:abc,worker.replicas=5,networkPolicy.enabled=false,imagePullSecrets={one}',
        '--set-file',
        `configuration=${join(root, 'deploy/pigeonpost.yaml')}`,
      ),
    );
    expect(found).toContain('"image":"registry.example.com/pigeonpost@sha256:abc"');
    expect(found).toContain('"replicas":5');
    expect(found).toContain('"imagePullSecrets":[{"name":"one"}]');
    expect(found).toContain('# A configuration for containers');
    expect(found).not.toContain('NetworkPolicy');
  });
});

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
}

/** Leaves out what only a chart has: its own labels, the checksum of the configuration, and the form of budgets. */
function comparable(manifests: readonly Manifest[]): unknown[] {
  const own = new Set([
    'app.kubernetes.io/instance',
    'app.kubernetes.io/version',
    'annotations',
    'imagePullPolicy',
    'minAvailable',
    'maxUnavailable',
  ]);
  const cleaned = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(cleaned);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, each]) => (own.has(key) ? [] : [[key, cleaned(each)]])),
    );
  };
  return manifests
    .map(({ data, metadata, ...manifest }) => ({
      ...(cleaned(manifest) as object),
      kind: manifest.kind,
      name: metadata.name,
      data: data === undefined ? null : (parse(data['pigeonpost.yaml']!) as unknown),
    }))
    .toSorted((a, b) => (`${a.kind} ${a.name}` < `${b.kind} ${b.name}` ? -1 : 1));
}
