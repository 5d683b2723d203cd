import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { isInContext } from '../kit/image.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';

/**
 * No machine that tests run on has containers: what docker-compose.yml, the Dockerfile and the manifests promise is held
 * to here as far as reading can. Their forms were checked against the vendors' schemas (decision 0031).
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
  it('holds no secret: each has to be given, and .env.example names it without a value', () => {
    const secrets = services.flatMap(([, { environment = {} }]) =>
      Object.entries(environment).filter(([name]) => /PASSW|PWD|TOKEN|SECRET|KEY|DATABASE_URL/.test(name)),
    );
    expect(secrets.length).toBeGreaterThan(4);
    for (const [name, value] of secrets) expect([name, value]).toEqual([name, expect.stringMatching(/\$\{\w+:\?/)]);
    const required = [...composeText.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name!);
    for (const name of required) expect(envExample).toHaveProperty(name);
    expect(Object.values(envExample).filter((value) => value !== '')).toEqual([]);
  });

  it('publishes ports on loopback alone, and pins what it runs', () => {
    for (const port of services.flatMap(([, { ports = [] }]) => ports)) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    for (const [, { image }] of services) expect(image).toMatch(/^(pigeonpost:local|[\w./-]+:\d[\w.-]*)$/);
  });

  it('starts everything after what it needs, and nothing after what has no sign of being ready', () => {
    for (const [name, { depends_on = {} }] of services) {
      for (const [needed, { condition }] of Object.entries(depends_on)) {
        const found = compose.services[needed];
        expect([name, needed, found !== undefined]).toEqual([name, needed, true]);
        if (condition === 'service_healthy') expect([needed, found!.healthcheck]).toEqual([needed, expect.anything()]);
        else expect([condition, found!.restart]).toEqual(['service_completed_successfully', undefined]);
      }
    }
  });

  it('runs an API and workers with nothing that they do not need', () => {
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

  // Compose builds all that have `build`, side by side, and the second finds that the image exists.
  it('builds each image for one service, and lets no other ask a registry for it', () => {
    for (const [, { image, build }] of services.filter(([, { build: how }]) => how !== undefined)) {
      expect(build).toBe('.');
      const others = services.filter(([, other]) => other.image === image && other.build === undefined);
      expect(services.filter(([, other]) => other.image === image && other.build !== undefined)).toHaveLength(1);
      expect(others.map(([, { pull_policy }]) => pull_policy)).toEqual(others.map(() => 'never'));
    }
  });

  // A container that has ended fails the command, unless one that was asked for waits for its end.
  it('waits for nothing that ends, in each line that is documented', () => {
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

  it('has connections for Temporal and for more processes than anybody starts beside each other', () => {
    const allowed = Number(/max_connections=(\d+)/.exec(compose.services['postgres']!.command!.join(' '))?.[1]);
    const temporal = 4 * (20 + 10); // four services, each with a pool for the history and one for visibility
    const each = 10 + 1; // storeConnections' default, and one without limits while it starts
    expect(Math.floor((allowed - temporal - 3 - 1) / each)).toBe(16);
    expect(composeText).toContain('16 processes');
    expect(compose.services['temporal']!.environment).toMatchObject({ NUM_HISTORY_SHARDS: '512' });
  });

  it('gives its Temporal the settings of the embedded one, and the guide lists all of them', () => {
    const { content } = (parse(composeText) as { configs: Record<string, { content: string }> }).configs[
      'temporal-settings'
    ]!;
    const settings = Object.entries(parse(content) as Record<string, [{ value: unknown }]>);
    const embedded = read('worker/embedded-temporal/embedded-temporal.ts');
    const guide = read('docs/deployment.md');
    expect(settings).toHaveLength([...embedded.matchAll(/--dynamic-config-value=/g)].length);
    for (const [name, [{ value }]] of settings) {
      expect(embedded).toMatch(new RegExp(`--dynamic-config-value=${name}="?${String(value)}"?'`));
      expect(guide).toContain(`| dynamic: \`${name}\` | \`${String(value)}\` |`);
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

  it('can be used with the variables of .env.example, and takes store and Temporal from the environment', async () => {
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

  it('is the one that the ConfigMap holds', () => {
    const { data } = parse(read('deploy/kubernetes/configuration.yaml')) as { data: Record<string, string> };
    expect(data).toEqual({ 'pigeonpost.yaml': read('deploy/pigeonpost.yaml') });
  });
});

describe('the Dockerfile', () => {
  const [, final = ''] = read('Dockerfile')
    .split(/^FROM .* AS build$/m)[1]!
    .split(/^FROM /m);

  it('ends in an image that runs what package.json calls the command, as nobody in particular', () => {
    const { bin } = JSON.parse(read('package.json')) as { bin: { pigeonpost: string } };
    expect(final).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    expect(final).toContain(`ENTRYPOINT ["node", "/app/${bin.pigeonpost}"`);
    expect(final).toMatch(
      /^HEALTHCHECK .*\\\n {2}CMD \["node", "\/app\/dist\/worker\/healthcheck.js", "\/etc\/pigeonpost\/pigeonpost.yaml"\]$/m,
    );
  });

  it('rests on a Node that is maintained, the same in both stages, which can be pinned by its digest', () => {
    const text = read('Dockerfile');
    expect(text).toMatch(/^ARG NODE_IMAGE=node:24-bookworm-slim$/m);
    expect([...text.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)).toEqual(['${NODE_IMAGE}', '${NODE_IMAGE}']);
    expect(read('docs/deployment.md')).toContain('--build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:');
  });

  it('is given all that a build reads, and no secrets', () => {
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
    readonly startupProbe?: Probe; // ends a process that a long migration keeps from being ready: none has one
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

  it('run an API and workers of this version, unprivileged, on a file system that is read alone', () => {
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

  it('select pods that there are, and leave one of each when a node is drained', () => {
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

  it('name in the Secret each variable that the configuration takes, and no value', () => {
    const { stringData } = manifests.find(({ kind }) => kind === 'Secret')!;
    const taken = [...read('deploy/pigeonpost.yaml').matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!);
    for (const name of [...taken, 'DATABASE_URL', 'LEDGER_KEY', 'TEMPORAL_ADDRESS'])
      expect(stringData).toHaveProperty(name);
    expect(Object.values(stringData).filter((value) => value !== '')).toEqual([]);
  });
});
