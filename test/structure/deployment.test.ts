import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { isInContext } from '../kit/image.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';

/**
 * No test machine has containers, so these tests only read docker-compose.yml, the Dockerfile and the manifests. Their
 * syntax was checked against the vendors' schemas (decision 0031).
 */
const root = resolve(__dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly pull_policy?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { condition: string }>>;
  readonly healthcheck?: object;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly restart?: string;
}

const composeText = read('docker-compose.yml');
const compose = parse(composeText, { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
};
const services = Object.entries(compose.services);
const envExample = Object.fromEntries(
  [...read('.env.example').matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]),
);

describe('docker-compose.yml', () => {
  it('contains no secret: each is required, and .env.example lists it without a value', () => {
    const secrets = services.flatMap(([, { environment = {} }]) =>
      Object.entries(environment).filter(([name]) => /PASSW|PWD|TOKEN|SECRET|KEY|DATABASE_URL/.test(name)),
    );
    expect(secrets.length).toBeGreaterThan(4);
    for (const [name, value] of secrets) expect([name, value]).toEqual([name, expect.stringMatching(/\$\{\w+:\?/)]);
    const required = [...composeText.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name!);
    for (const name of required) expect(envExample).toHaveProperty(name);
    expect(Object.values(envExample).filter((value) => value !== '')).toEqual([]);
  });

  it('publishes ports only on loopback, and pins its images', () => {
    for (const port of services.flatMap(([, { ports = [] }]) => ports)) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    for (const [, { image }] of services) expect(image).toMatch(/^(pigeonpost:local|[\w./-]+:\d[\w.-]*)$/);
  });

  it('starts each service after its dependencies, all of which have a health check', () => {
    for (const [name, { depends_on = {} }] of services) {
      for (const [needed, { condition }] of Object.entries(depends_on)) {
        const found = compose.services[needed];
        expect([name, needed, found !== undefined]).toEqual([name, needed, true]);
        if (condition === 'service_healthy') expect([needed, found!.healthcheck]).toEqual([needed, expect.anything()]);
        else expect([condition, found!.restart]).toEqual(['service_completed_successfully', undefined]);
      }
    }
  });

  it('runs an API and workers without unnecessary rights', () => {
    const own = services.filter(([, { image }]) => image === 'pigeonpost:local');
    expect(own.map(([, { command }]) => command)).toEqual([['api'], ['worker', '--listen', '127.0.0.1:9464']]);
    const worker = own[1]![1];
    expect(worker.healthcheck).toMatchObject({
      test: ['CMD', 'node', '/app/dist/worker/healthcheck.js', '127.0.0.1:9464'],
    });
    for (const [, service] of own) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], restart: 'unless-stopped' });
    }
    const used = services
      .flatMap(([, { volumes = [] }]) => volumes)
      .map((volume) => volume.split(':')[0]!)
      .filter((volume) => /^\w+$/.test(volume));
    expect(Object.keys(compose.volumes).toSorted()).toEqual(
      used.filter((each, at) => used.indexOf(each) === at).toSorted(),
    );
  });

  // Compose builds all services with `build` concurrently, and the second one would find that the image exists.
  it('builds each image for one service, and pulls it from no registry for others', () => {
    for (const [, { image, build }] of services.filter(([, { build: how }]) => how !== undefined)) {
      expect(build).toBe('.');
      const others = services.filter(([, other]) => other.image === image && other.build === undefined);
      expect(services.filter(([, other]) => other.image === image && other.build !== undefined)).toHaveLength(1);
      expect(others.map(([, { pull_policy }]) => pull_policy)).toEqual(others.map(() => 'never'));
    }
  });

  // A container that exits makes the command fail, unless a requested service waits for its exit.
  it('waits for no service that exits, in each documented command', () => {
    const lines = [composeText, read('docs/deployment.md'), read('README.md')].flatMap((text) =>
      [...text.matchAll(/docker compose up (?:-d )?--wait(.*)$/gm)].map(([, rest]) => rest!),
    );
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) {
      const named = line.split(' ').filter((word) => compose.services[word] !== undefined);
      const started = withNeeded(named.length > 0 ? named : Object.keys(compose.services));
      const ending = started.filter((name) => compose.services[name]!.restart === undefined);
      const waitedFor = started.flatMap((name) =>
        Object.entries(compose.services[name]!.depends_on ?? {})
          .filter(([, { condition }]) => condition === 'service_completed_successfully')
          .map(([needed]) => needed),
      );
      expect([line, ending.filter((name) => !waitedFor.includes(name))]).toEqual([line, []]);
    }
  });

  it('has enough connections for Temporal and the maximum number of processes', () => {
    const allowed = Number(/max_connections=(\d+)/.exec(compose.services['postgres']!.command!.join(' '))?.[1]);
    const temporal = 4 * (20 + 10); // four services, each with a pool for the history and one for visibility
    const each = 10 + 1; // the default of storeConnections, and one more while it starts
    expect(Math.floor((allowed - temporal - 3 - 1) / each)).toBe(16);
    expect(composeText).toContain('16 processes');
    expect(compose.services['temporal']!.environment).toMatchObject({ NUM_HISTORY_SHARDS: '512' });
  });

  it('gives Temporal the settings of the embedded server, all of which the guide lists', () => {
    const { content } = (parse(composeText) as { configs: Record<string, { content: string }> }).configs[
      'temporal-settings'
    ]!;
    const settings = Object.entries(parse(content) as Record<string, [{ value: unknown }]>);
    const embedded = read('worker/embedded-temporal/embedded-temporal.ts');
    const guide = read('docs/deployment.md');
    expect(settings).toHaveLength([...embedded.matchAll(/--dynamic-config-value=/g)].length);
    for (const [name, [{ value }]] of settings) {
      const shown = Array.isArray(value) ? JSON.stringify(value) : String(value);
      const argument = `--dynamic-config-value=${name}=`;
      expect([`${argument}${shown}'`, `${argument}"${shown}"'`].some((each) => embedded.includes(each))).toBe(true);
      expect(guide).toContain(`| dynamic: \`${name}\` | \`${shown}\` |`);
    }
    expect(guide).toContain('`NUM_HISTORY_SHARDS`) | 512 |');
  });
});

function withNeeded(names: readonly string[]): string[] {
  const needed = names.flatMap((name) => Object.keys(compose.services[name]!.depends_on ?? {}));
  const all = [...names, ...(needed.length > 0 ? withNeeded(needed) : [])];
  return all.filter((name, at) => all.indexOf(name) === at);
}

describe('the configuration for containers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-deploy-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('works with the variables of .env.example, and reads store and Temporal from the environment', async () => {
    const file = join(folder, 'pigeonpost.yaml');
    writeFileSync(file, read('deploy/pigeonpost.yaml'));
    const filled = {
      ...Object.fromEntries(Object.keys(envExample).map((name) => [name, 'something'])),
      PIGEONPOST_TOKEN: 'a-token-of-24-characters-or-more',
      ENGAGEMENT_URL: 'https://engagement.example.com',
      HOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
      DATABASE_URL: 'postgres://pigeonpost:something@postgres:5432/pigeonpost',
      LEDGER_KEY: Buffer.alloc(32, 1).toString('base64'),
      TEMPORAL_ADDRESS: 'temporal:7233',
    };
    const { store, temporal, server, warnings, ledgerKey } = await loadProcessConfig(file, filled);
    expect(ledgerKey).toBeDefined();
    expect([store.kind, temporal.address, server.host, warnings]).toEqual(['postgres', 'temporal:7233', '0.0.0.0', []]);
    await expect(loadProcessConfig(file, { ...filled, PIGEONPOST_TOKEN: '' })).rejects.toThrow(/token/);
  });

  it('is equal to the one in the ConfigMap', () => {
    const { data } = parse(read('deploy/kubernetes/configuration.yaml')) as { data: Record<string, string> };
    expect(data).toEqual({ 'pigeonpost.yaml': read('deploy/pigeonpost.yaml') });
  });
});

describe('the Dockerfile', () => {
  const [, final = ''] = read('Dockerfile')
    .split(/^FROM .* AS build$/m)[1]!
    .split(/^FROM /m);

  it('builds an image that runs the command of package.json as an unprivileged user', () => {
    const { bin } = JSON.parse(read('package.json')) as { bin: { pigeonpost: string } };
    expect(final).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    expect(final).toContain(`ENTRYPOINT ["node", "/app/${bin.pigeonpost}"`);
    expect(final).toMatch(
      /^HEALTHCHECK .*\\\n {2}CMD \["node", "\/app\/dist\/worker\/healthcheck.js", "\/etc\/pigeonpost\/pigeonpost.yaml"\]$/m,
    );
  });

  it('uses a maintained Node version in both stages, which can be pinned by digest', () => {
    const text = read('Dockerfile');
    expect(text).toMatch(/^ARG NODE_IMAGE=node:24-bookworm-slim$/m);
    expect([...text.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)).toEqual(['${NODE_IMAGE}', '${NODE_IMAGE}']);
    expect(read('docs/deployment.md')).toContain('--build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:');
  });

  it('uses the Node version that the guides recommend, while the package also accepts 20.19 for development', () => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    expect(engines.node).toBe('>=20.19');
    const readme = read('README.md');
    expect(readme).toContain('You need a computer with Linux (macOS is untested) and Node.js 24 or 22');
    expect(read('CONTRIBUTING.md')).toContain('Node.js 20.19, 22 or 24');
    expect(read('docs/deployment.md')).toContain('The image runs Node.js 24 ');
  });

  it('receives everything that a build needs, and no secrets', () => {
    const { include } = JSON.parse(read('tsconfig.build.json')) as { include: string[] };
    const files = ['package-lock.json', 'vite.config.mjs', 'tools/finish-build.mjs', 'tools/trim-image.mjs'];
    expect([...include, ...files].filter((path) => !isInContext(`${path}/a`))).toEqual([]);
    expect(['.env', 'cli/.env.local', '.git/config', 'data/lock', 'pigeonpost.yaml'].filter(isInContext)).toEqual([]);
  });
});

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas: number;
    readonly minAvailable: number;
    readonly selector: { readonly matchLabels: object };
    readonly podSelector: { readonly matchLabels: object };
    readonly template: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec };
  };
  readonly stringData: Readonly<Record<string, string>>;
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface PodSpec {
  readonly securityContext: object;
  readonly containers: readonly {
    readonly image: string;
    readonly args: readonly string[];
    readonly securityContext: object;
    readonly resources: object;
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    readonly startupProbe?: Probe; // would end a process during a long migration, so no manifest has one
    readonly readinessProbe?: Probe;
    readonly livenessProbe?: Probe;
  }[];
}

describe('the manifests for Kubernetes', () => {
  const folder = join(root, 'deploy/kubernetes');
  const manifests = readdirSync(folder)
    .toSorted()
    .flatMap((name) =>
      parseAllDocuments(readFileSync(join(folder, name), 'utf8')).map((document) => document.toJS() as Manifest),
    );
  const deployments = manifests.filter(({ kind }) => kind === 'Deployment');

  it('run an API and workers of this version, unprivileged, on a read-only file system', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(deployments.map(({ spec }) => spec.template.spec.containers[0]!.args[0])).toEqual(['api', 'worker']);
    const containerPort = 8088; // server.port's default
    const probes = { readinessProbe: '/readyz', livenessProbe: '/healthz' } as const;
    for (const { spec } of deployments) {
      const pod = spec.template.spec;
      expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
      const [{ args, ports, ...container }] = pod.containers as [PodSpec['containers'][number]];
      const listens = args.includes('--listen') ? args.at(-1)! : `0.0.0.0:${containerPort}`;
      expect(ports).toEqual([{ name: expect.any(String), containerPort: Number(listens.replace('0.0.0.0:', '')) }]);
      for (const [probe, path] of Object.entries(probes)) {
        expect([probe, container[probe as keyof typeof probes]?.httpGet]).toEqual([
          probe,
          { path, port: ports[0]!.name },
        ]);
      }
      expect(container.startupProbe).toBeUndefined();
      expect(container).toMatchObject({
        image: expect.stringMatching(new RegExp(`:${version.replaceAll('.', '\\.')}$`)),
        resources: { requests: { memory: expect.any(String) }, limits: { memory: expect.any(String) } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      });
    }
  });

  it('select existing pods, and keep one of each when a node is drained', () => {
    const pods = deployments.map(({ spec }) => spec.template.metadata.labels);
    const selecting = manifests.flatMap(({ kind, spec }): object[] => {
      if (kind === 'Service') return [spec.selector];
      if (kind === 'NetworkPolicy') return [spec.podSelector.matchLabels];
      return kind === 'PodDisruptionBudget' || kind === 'Deployment' ? [spec.selector.matchLabels] : [];
    });
    expect(selecting).toHaveLength(8);
    for (const labels of selecting) expect(pods).toContainEqual(expect.objectContaining(labels));
    const budgets = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget');
    expect(budgets.map(({ metadata }) => metadata.name)).toEqual(deployments.map(({ metadata }) => metadata.name));
    for (const [at, { spec }] of budgets.entries()) {
      expect([spec.minAvailable, deployments[at]!.spec.replicas > 1]).toEqual([1, true]);
    }
  });

  it('list each variable of the configuration in the Secret, without values', () => {
    const { stringData } = manifests.find(({ kind }) => kind === 'Secret')!;
    const taken = [...read('deploy/pigeonpost.yaml').matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!);
    for (const name of [...taken, 'DATABASE_URL', 'LEDGER_KEY', 'TEMPORAL_ADDRESS'])
      expect(stringData).toHaveProperty(name);
    expect(Object.values(stringData).filter((value) => value !== '')).toEqual([]);
  });
});
