import { slackTrial, type SlackTrial } from './slack-client.test-kit.js';
import { DEFAULT_CHANNEL as channel } from './start-slack-double.js';

let trial: SlackTrial;
beforeEach(async () => {
  trial = await slackTrial();
});
afterEach(async () => {
  await trial.double.close();
});

const order = (fault: object): Promise<Response> =>
  fetch(`${trial.double.url}/_double/faults`, { method: 'POST', body: JSON.stringify(fault) });
const post = () => trial.call('chat.postMessage', { channel, text: 'x' });
const posted = (): number => trial.double.state().channels[0]!.messages.length;

describe('a fault of the Slack double', () => {
  it.each([
    ['dropBefore', 0],
    ['dropAfter', 1],
  ])('%s closes the connection with %i messages posted', async (fault, count) => {
    await order({ fault, path: 'chat.postMessage' });
    await expect(post()).rejects.toThrow();
    expect(posted()).toBe(count);
    expect((await post()).ok).toBe(true);
  });

  it.each([
    ['internal_error', 0],
    ['fatal_error-after', 1],
    ['edit_window_closed', 0],
  ])('%s answers its code with %i messages posted', async (fault, count) => {
    await order({ fault });
    expect(await post()).toMatchObject({ status: 200, ok: false, error: fault.replace('-after', '') });
    expect(posted()).toBe(count);
  });

  it('ratelimited answers 429 with Retry-After and is no violation of the caller', async () => {
    await order({ fault: 'ratelimited' });
    expect((await post()).headers.get('retry-after')).toBe('2');
    expect(trial.double.state().violations).toBe(0);
  });

  it('with an unknown name is refused', async () => {
    expect((await order({ fault: 'coffee' })).status).toBe(400);
  });
});

describe('the page of the Slack double', () => {
  it('shows threads as people see them, marks live mentions, and escapes audience texts', async () => {
    const parent = await trial.post({ text: 'Session *one* <!channel>' });
    const blocks = [{ type: 'section', text: { type: 'plain_text', text: '<script>alert(1)</script> <!channel>' } }];
    await trial.post({ thread_ts: parent, text: 'fallback', blocks });
    const html = await (await fetch(`${trial.double.url}/`)).text();
    expect(html).toContain('Session <b>one</b> <span class="ping" title="notifies everyone named">@channel</span>');
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &lt;!channel&gt;');
    expect(html).not.toContain('fallback');
  });
});
