import { whileOldTlsIsAllowed } from '../../test/kit/old-tls.js';
import { stopTimers } from '../../test/kit/stop-timers.js';
import { runInThisContext } from 'node:vm';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Secret } from '../../config/secret.js';
import { DEFAULT_CHANNEL, DEFAULT_TOKEN, startSlackDouble } from '../../sandbox/slack/start-slack-double.js';
import { whileHeld } from '../../base/lease.js';
import { startHookServer } from './hook-server.test-kit.js';
import { localhostCertificate, localhostKey } from '../../sinks/network/localhost-certificate.test-kit.js';
import { startMailServer } from './mail-server.test-kit.js';
import { type OutgoingAlert, openSlackReceiver, openWebhookReceiver, openSmtpReceiver } from './receivers.js';

/** The original object. Jest gives tests a copy, which Node's TLS ignores. */
const { env: environment } = runInThisContext('process') as NodeJS.Process;

const network = { allowHosts: [] };
const never = new AbortController().signal;
const hookSecret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const alert: OutgoingAlert = {
  problem: 'sink-paused',
  id: '0d8f1e9e-3f5b-4a43-9d2c-6a4f5d1c7b10',
  at: new Date('2026-11-21T09:30:00.000Z'),
  occasion: 'sink-paused',
  kind: 'raised',
  subjects: ['hooks'],
  title: 'Sink hooks is paused',
  says: 'A person has paused it & <nobody> else.',
  todo: 'Resume it.',
  link: 'https://pigeonpost.example.com/#/sink/hooks',
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  jest.useRealTimers();
  for (const close of closers.splice(0).toReversed()) await close();
});
function closing<Part extends { close(): Promise<void> }>(part: Part): Part {
  closers.push(() => part.close());
  return part;
}

describe('a Slack receiver', () => {
  /** The app is already a member: sending an alert never joins a channel. */
  const invited = [{ id: DEFAULT_CHANNEL, name: 'alerts', isMember: true }];
  const open = async (token = DEFAULT_TOKEN, channel = DEFAULT_CHANNEL) => {
    const slack = closing(await startSlackDouble({ channels: invited }));
    const settings = { type: 'slack', token: new Secret(token), channel, baseUrl: `${slack.url}/api` } as const;
    return { slack, receiver: closing(openSlackReceiver(settings, network, Date.now)) };
  };

  it('posts an alert with its link, and escapes characters that Slack would read as markup', async () => {
    const { slack, receiver } = await open();
    expect(await receiver.send(alert, never)).toEqual({ kind: 'delivered' });
    const [message] = slack.workspace.channels.get(DEFAULT_CHANNEL)!.all;
    expect(message!.text).toBe(
      '*Sink hooks is paused*\nA person has paused it &amp; &lt;nobody&gt; else.\nResume it.\n<https://pigeonpost.example.com/#/sink/hooks|Open it>',
    );
  });

  it.each([
    ['a rejected token', 'xoxb-wrong', DEFAULT_CHANNEL, 'invalid_auth'],
    ['a missing channel', DEFAULT_TOKEN, 'C9999999999', 'channel_not_found'],
  ])('reports %s by its code, without the token', async (_, token, channel, code) => {
    const { receiver } = await open(token, channel);
    const outcome = await receiver.send(alert, never);
    expect(outcome).toEqual({ kind: 'failed', detail: expect.stringContaining(`(${code})`) });
    expect(JSON.stringify(outcome)).not.toContain('xoxb');
  });
});

describe('a webhook receiver', () => {
  const open = async () => {
    const server = closing(await startHookServer(hookSecret));
    const settings = { type: 'webhook', url: server.url, secret: new Secret(hookSecret) } as const;
    return { server, receiver: closing(openWebhookReceiver(settings, network, Date.now)) };
  };

  it('posts an alert that another implementation of Standard Webhooks verifies', async () => {
    const { server, receiver } = await open();
    expect(await receiver.send(alert, never)).toEqual({ kind: 'delivered' });
    const { title, says, todo, link } = alert;
    expect(server.taken).toEqual([
      {
        id: alert.id,
        type: 'alert.raised',
        timestamp: '2026-11-21T09:30:00.000Z',
        data: {
          occasion: 'sink-paused',
          problem: 'sink-paused',
          subject: 'hooks',
          subjects: ['hooks'],
          title,
          says,
          todo,
          link,
        },
      },
    ]);
  });

  it('does not follow a redirect, and reports nothing of the URL but its host', async () => {
    const { server, receiver } = await open();
    server.answer(307, { location: 'http://127.0.0.1:1/elsewhere' });
    const outcome = await receiver.send(alert, never);
    expect(outcome).toEqual({ kind: 'failed', detail: expect.stringContaining('(HTTP 307)') });
    expect(JSON.stringify([outcome, receiver.name])).not.toMatch(/in-the-address|whsec/);
    expect(server.asked()).toBe(1);
  });

  it('reports how long the endpoint asks to wait', async () => {
    const { server, receiver } = await open();
    server.answer(429, { 'retry-after': '90' });
    expect(await receiver.send(alert, never)).toMatchObject({ kind: 'failed', afterMs: 90_000 });
  });

  it('stops waiting for an endpoint that hangs when the process stops', async () => {
    const { server, receiver } = await open();
    server.answer(null);
    const stopping = new AbortController();
    const sending = receiver.send(alert, stopping.signal);
    stopping.abort();
    expect(await sending).toMatchObject({ kind: 'failed' });
  });
});

describe('a mail receiver', () => {
  const open = async (user: { username?: string; password?: Secret } = {}) => {
    const server = closing(await startMailServer());
    const settings = { type: 'smtp', host: '127.0.0.1', port: server.port, from: 'pigeonpost@example.com' } as const;
    return { server, receiver: openSmtpReceiver({ ...settings, to: 'ops@example.com', ...user }, {}) };
  };

  it('sends a mail with the alert’s id as message id, and with the header that suppresses automatic replies', async () => {
    const { server, receiver } = await open();
    expect(await receiver.send(alert, never)).toEqual({ kind: 'delivered' });
    const [mail] = server.taken;
    for (const line of [
      'Subject: [pigeonpost] Sink hooks is paused',
      'To: ops@example.com',
      `Message-ID: <${alert.id}@pigeonpost.invalid>`,
      'Auto-Submitted: auto-generated',
      'https://pigeonpost.example.com/#/sink/hooks',
    ]) {
      expect(mail).toContain(line);
    }
  });

  it('sends the user name and password', async () => {
    const { server, receiver } = await open({ username: 'ops', password: new Secret('a-password') });
    expect(await receiver.send(alert, never)).toEqual({ kind: 'delivered' });
    expect(server.presented).toEqual(['\0ops\0a-password']);
  });

  it.each([
    ['AUTH', '535 no, ops@example.com', 'refuses username and password (SMTP 535)'],
    ['MAIL', '530 5.7.0 Authentication required', 'asks for a login: set "username" and "password" (SMTP 530)'],
    ['MAIL', '530 5.7.0 Must issue a STARTTLS command first', 'offers no TLS that can be trusted'],
    ['RCPT', '550 no such mailbox ops@example.com', 'check "from" and "to" (SMTP 550)'],
    ['MAIL TAKEN', '554 spam, says ops@example.com', 'refuses the message (SMTP 554)'],
  ])('reports a refusal at %s by its codes, without text from the server', async (command, line, told) => {
    const { server, receiver } = await open({ username: 'ops', password: new Secret('a-password') });
    server.answer(command, line);
    const outcome = await receiver.send(alert, never);
    expect(outcome).toEqual({ kind: 'failed', detail: expect.stringContaining(told) });
    expect(JSON.stringify(outcome)).not.toMatch(/example\.com|a-password/);
  });

  it('stops waiting for a silent server when the process stops', async () => {
    const { server, receiver } = await open();
    server.answer('GREETING', null);
    const stopping = new AbortController();
    const sending = receiver.send(alert, stopping.signal);
    stopping.abort();
    expect(await sending).toEqual({ kind: 'failed', detail: expect.stringContaining('mail server 127.0.0.1') });
  });

  it('fails at once if the connection ends while the lease is confirmed', async () => {
    const { server, receiver } = await open();
    stopTimers(); // so that no wait for a greeting ends
    const outcomeAfter = async (end: (stopping: AbortController) => unknown) => {
      const stopping = new AbortController();
      let isConnected = false;
      const confirm = async (): Promise<void> => {
        if (isConnected) await end(stopping);
        isConnected = true; // the first confirmation comes before the connection
      };
      return await whileHeld(confirm, () => receiver.send(alert, stopping.signal));
    };
    const failed = { kind: 'failed', detail: expect.stringContaining('mail server 127.0.0.1') };
    const aborted = async (stopping: AbortController): Promise<void> => {
      stopping.abort();
      await nextTurn(); // the socket has reported its error
    };
    expect(await outcomeAfter(aborted)).toEqual(failed);
    expect(await outcomeAfter(() => server.close())).toEqual(failed);
    expect(server.taken).toEqual([]);
  });

  it.each(['0', undefined])(
    'sends nothing to a server with an untrusted certificate (NODE_TLS_REJECT_UNAUTHORIZED=%s)',
    async (weakened) => {
      if (weakened !== undefined) environment['NODE_TLS_REJECT_UNAUTHORIZED'] = weakened;
      try {
        const server = closing(await startMailServer({ cert: localhostCertificate, key: localhostKey }));
        const settings = { type: 'smtp', host: '127.0.0.1', port: server.port, from: 'a@example.com' } as const;
        const user = { to: 'b@example.com', username: 'ops', password: new Secret('a-password') };
        const outcome = await openSmtpReceiver({ ...settings, ...user }, {}).send(alert, never);
        expect(outcome).toEqual({ kind: 'failed', detail: expect.stringContaining('network.ca') });
        expect([server.presented, server.taken]).toEqual([[], []]);
        const trusting = openSmtpReceiver({ ...settings, ...user }, { ca: localhostCertificate });
        expect(await trusting.send(alert, never)).toEqual({ kind: 'delivered' });
      } finally {
        delete environment['NODE_TLS_REJECT_UNAUTHORIZED'];
      }
    },
  );

  it('sends nothing to a server that supports at most TLS 1.1, even if Node.js is configured to allow it', async () => {
    await whileOldTlsIsAllowed(async () => {
      const settings = { type: 'smtp', host: '127.0.0.1', from: 'a@example.com', to: 'b@example.com' } as const;
      const outcomeAt = async (maxVersion: 'TLSv1.1' | 'TLSv1.2') => {
        const server = closing(await startMailServer({ cert: localhostCertificate, key: localhostKey, maxVersion }));
        const receiver = openSmtpReceiver({ ...settings, port: server.port }, { ca: localhostCertificate });
        return [(await receiver.send(alert, never)).kind, server.taken.length];
      };
      expect(await outcomeAt('TLSv1.2')).toEqual(['delivered', 1]);
      expect(await outcomeAt('TLSv1.1')).toEqual(['failed', 0]);
    });
  });

  // Another address of this machine that pigeonpost does not recognize as loopback, so it requires TLS, which this
  // server lacks.
  const offLoopback = { type: 'smtp', host: '0.0.0.0', from: 'a@example.com', to: 'b@example.com' } as const;

  it.each([[{ username: 'ops', password: new Secret('a-password') }], [{}]])(
    'off loopback sends nothing without TLS (%j), and names the key that allows it',
    async (user) => {
      const { server } = await open();
      const outcome = await openSmtpReceiver({ ...offLoopback, port: server.port, ...user }, {}).send(alert, never);
      expect(outcome).toEqual({ kind: 'failed', detail: expect.stringContaining('allowPlainText: true') });
      expect([server.presented, server.taken]).toEqual([[], []]);
    },
  );

  it('off loopback sends without TLS if the configuration allows plain text', async () => {
    const { server } = await open();
    const receiver = openSmtpReceiver({ ...offLoopback, port: server.port, allowPlainText: true }, {});
    expect(await receiver.send(alert, never)).toEqual({ kind: 'delivered' });
  });
});
