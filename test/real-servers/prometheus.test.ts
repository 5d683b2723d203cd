import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anyStore } from '../../ledger/drivers/both-databases.test-kit.js';
import { apiSources } from '../../api/api-sources.test-kit.js';
import { type ApiServer, startApi } from '../../api/start-api.js';
import { freeTestPort } from '../free-port.js';
import { attendee } from '../kit/items.js';
import { useStages } from '../kit/stage.js';
import { until } from '../until.js';
import { findServer, type RealServer, startServer, withServer } from './real-server.js';

/** deploy/alerts.yml in Prometheus, which scrapes `/metrics`, and from there to Alertmanager and a receiver. */
const prometheus = findServer('prometheus', 'Debian: prometheus');
const alertmanager = findServer('prometheus-alertmanager', 'Debian: prometheus-alertmanager');
const stages = useStages();

withServer(alertmanager === undefined ? undefined : prometheus)('the shipped rules in Prometheus', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-prometheus-'));
  const started: RealServer[] = [];
  const received: {
    readonly status: string;
    readonly alerts: readonly { readonly labels: Record<string, string> }[];
  }[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      received.push(JSON.parse(body) as (typeof received)[number]);
      response.end();
    });
  });
  let api: ApiServer;
  let url: string;

  beforeAll(async () => {
    await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
    api = await startApi({ host: '127.0.0.1', port: 0 });
    const [manager, server] = [await freeTestPort(), await freeTestPort()].map((port) => `127.0.0.1:${port}`);
    writeFileSync(
      join(folder, 'alertmanager.yml'),
      `route: { receiver: here, group_wait: 0s, group_interval: 1s }\nreceivers: [{ name: here, webhook_configs: [{ url: "http://127.0.0.1:${(receiver.address() as AddressInfo).port}" }] }]\n`,
    );
    writeFileSync(
      join(folder, 'prometheus.yml'),
      [
        'global: { scrape_interval: 1s, evaluation_interval: 1s }',
        `rule_files: ["${join(__dirname, '../../deploy/alerts.yml')}"]`,
        `alerting: { alertmanagers: [{ static_configs: [{ targets: ["${manager}"] }] }] }`,
        `scrape_configs: [{ job_name: pigeonpost, static_configs: [{ targets: ["${new URL(api.url).host}"] }] }]`,
      ].join('\n'),
    );
    const isReady = (address: string) => async () => (await fetch(`http://${address}/-/ready`)).ok;
    const own = [`--config.file=${join(folder, 'alertmanager.yml')}`, `--storage.path=${join(folder, 'alerts')}`];
    started.push(
      await startServer(
        [alertmanager!, ...own, `--web.listen-address=${manager}`, '--cluster.listen-address='],
        isReady(manager!),
      ),
      await startServer(
        [
          prometheus!,
          `--config.file=${join(folder, 'prometheus.yml')}`,
          `--storage.tsdb.path=${join(folder, 'series')}`,
          `--web.listen-address=${server}`,
        ],
        isReady(server!),
      ),
    );
    url = `http://${server}/api/v1`;
  });
  afterAll(async () => {
    for (const server of started.toReversed()) await server.stop();
    await api.close();
    receiver.close();
    receiver.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  async function ask<T>(path: string): Promise<T> {
    return ((await (await fetch(`${url}${path}`)).json()) as { data: T }).data;
  }

  it('are all evaluated without an error, and report a paused sink to Alertmanager', async () => {
    const stage = await stages.open(anyStore);
    await stage.put('attendees', attendee(1));
    const scene = await stage.webhookScene();
    const { ledger, config, configuration } = scene.deps;
    api.serve(apiSources({ ledger, config, configuration }));
    await stage.planAnswer({ status: 410, count: 10 }); // the receiver is gone, which pauses the sink
    await scene.settle();
    await until('Alertmanager has told the receiver', () => received.length > 0);
    expect(received[0]).toMatchObject({
      status: 'firing',
      alerts: [{ labels: { alertname: 'PigeonpostSinkPaused', sink: 'hooks', severity: 'critical' } }],
    });
    const { groups } = await ask<{ groups: { rules: { name: string; health: string; lastError?: string }[] }[] }>(
      '/rules',
    );
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(15);
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    const { activeTargets } = await ask<{ activeTargets: { health: string; lastError: string }[] }>('/targets');
    expect(activeTargets).toMatchObject([{ health: 'up', lastError: '' }]);
  });
});
