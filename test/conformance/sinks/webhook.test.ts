import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '../../../config/secret.js';
import { runWebhookReceiver } from '../../../sandbox/webhook-receiver/run-webhook-receiver.js';
import type { Change } from '../../../sinks/change.js';
import type { Sink } from '../../../sinks/sink.js';
import { createWebhookSink, webhookSinkType } from '../../../sinks/webhook/webhook.js';
import type { Destination, Fault } from './destination.js';
import { Gate, type GateMode } from './gate.js';
import { describeSink } from './sink-conformance.js';
import { environmentOf } from '../../../sinks/sink-environment.test-kit.js';

interface WebhookDestination extends Destination {
  readonly gate: Gate;
  readonly controlUrl: string;
}

const URL_TOKEN = 'url-t0ken';

/** Starts the sandbox's receiver, which checks signatures with a separate library, behind a gate. */
async function startReceiver(): Promise<WebhookDestination> {
  const secrets = [0, 1].map(() => `whsec_${randomBytes(32).toString('base64')}`);
  const folder = mkdtempSync(join(tmpdir(), 'webhook-conformance-'));
  const logFile = join(folder, 'receipts.ndjson');
  const receiver = await runWebhookReceiver({ secrets: secrets.slice(0, 1), logFile });
  const gate = new Gate(Number(new URL(receiver.url).port));
  const port = await gate.open();
  const config = {
    url: `http://127.0.0.1:${port}/hooks?token=${URL_TOKEN}`,
    secret: secrets.map((secret) => new Secret(secret)),
    allowPrivateAddresses: true,
  };
  const sinkWith = (requestTimeoutMs: number): Sink =>
    createWebhookSink(config, environmentOf('hooks', { requestTimeoutMs }));
  const patient = sinkWith(60_000);
  /** A sink with a short timeout, for a receiver that never answers. */
  const hurried = sinkWith(400);
  const fitting = (): Sink => (gate.mode === 'silent' ? hurried : patient);
  return {
    sink: {
      ...patient,
      send: (...given) => fitting().send(...given),
      check: (...given) => fitting().check(...given),
    },
    gate,
    controlUrl: `${receiver.url}_control/answers`,
    secrets: [...secrets, ...secrets.map((secret) => secret.slice('whsec_'.length)), URL_TOKEN],
    async received() {
      const lines = readFileSync(logFile, 'utf8').split('\n').slice(0, -1);
      return lines.map((line) => {
        const { change, sha256 } = JSON.parse(line) as { change: Change; sha256: string };
        return { change, bytes: sha256 };
      });
    },
    async close() {
      await patient.close();
      await hurried.close();
      await gate.close();
      await receiver.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const inMode = (name: string, mode: GateMode): Fault<WebhookDestination> => ({
  name,
  begin: async ({ gate }) => gate.setMode(mode),
  repair: async ({ gate }) => gate.setMode('open'),
});

const answering = (name: string, plans: readonly object[]): Fault<WebhookDestination> => ({
  name,
  async begin({ controlUrl }) {
    for (const plan of plans)
      await fetch(controlUrl, { method: 'POST', body: JSON.stringify({ count: 1_000, ...plan }) });
  },
  async repair({ controlUrl }) {
    await fetch(controlUrl, { method: 'DELETE' });
  },
});

describeSink('webhook', {
  type: webhookSinkType,
  start: startReceiver,
  faults: [
    inMode('cuts every connection', 'cut'),
    inMode('never answers', 'silent'),
    inMode('answers with something that is no HTTP', 'garbage'),
    inMode('takes changes but its answers are lost', 'answer-lost'),
    answering('is overloaded', [{ status: 429, retryAfter: '120' }]),
    answering('fails for one item and stores another without saying so', [
      { status: 500, body: `{"stack": "${'x'.repeat(100_000)}"}`, key: 'k1' },
      { drop: true, store: true, key: 'k3' },
    ]),
    answering('redirects', [{ status: 302 }]),
    answering('refuses the signature', [{ status: 401, body: 'Ada Lovelace' }]),
    answering('asks to be sent nothing more', [{ status: 410 }]),
  ],
});
