import { apiSources, asLocalUser } from '../../api/api-sources.test-kit.js';
import { createApp } from '../../api/create-app.js';
import { ProcessMeters } from '../../api/metrics/serve-metrics.js';
import { tryNow } from '../../operations/act.js';
import { viewQuotas } from '../../operations/status-view.js';
import { isUnanswered } from '../../ledger/workspaces.js';
import { attendee, pollVote, question, session } from '../kit/items.js';
import { HandTimers } from '../kit/hand-timers.js';
import { hasPromtool, PrometheusDay } from '../kit/prometheus-day.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { everyone, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { until } from '../until.js';

/*
 * The rules of deploy/alerts.yml over what /metrics prints: a minute of the ledger passes between two scrapes, in which the
 * work that is due is done and the audience does something. Prometheus itself evaluates the rules.
 */
const stages = useStages();
const minuteMs = 60_000;
const workspace = { kind: 'workspace', name: 'acme' } as const;

/** Variations of one minute of an event day. */
interface Minute {
  /** In place of the reading and delivering that is due. */
  readonly work?: () => Promise<void>;
  /** The age of the question that the audience asks in it, when the service shows it. */
  readonly foundAfterMs?: number;
}

class EventDay {
  readonly #prometheus = new PrometheusDay();
  #question = 100;

  private constructor(
    readonly stage: Stage,
    readonly scene: Scene,
    private readonly meters: ProcessMeters,
    private readonly clock: { passedMs: number; readonly timers: HandTimers },
  ) {}

  /**
   * A live pigeonhole: one session runs, a poll has ended filling its lists, two sessions come later. When the test has
   * passed its minutes, Prometheus judges what was expected of them.
   */
  static async pass(
    kind: (typeof kinds)[number],
    { sinks = {}, isFilled = true }: { readonly sinks?: Readonly<Record<string, string>>; readonly isFilled?: boolean },
    test: (day: EventDay) => Promise<void>,
  ): Promise<void> {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', {
      quota: { limit: 1_000_000, windowSeconds: 86_400, headers: true },
    });
    const poll = { type: 'poll_mcq' };
    const later = { startDate: '2099-01-01T07:00:00+00:00' };
    await stage.put('sessions', session(1), session(2, poll), session(3, later), session(4, { ...poll, ...later }));
    await stage.put('attendees', ...Array.from({ length: 20 }, (_, index) => attendee(index + 1)));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 1, anonymous: false }, 2));
    const meters = new ProcessMeters({ withNode: false });
    const clock = { passedMs: 0, timers: new HandTimers() };
    const scene = await stage.webhookScene(undefined, {
      meters,
      sinks,
      environment: { CRM_TOKEN: 'pat-token' },
      gate: { now: () => performance.now() + clock.passedMs, after: clock.timers.after },
    });
    if (isFilled) await scene.settle();
    const day = new EventDay(stage, scene, meters, clock);
    await test(day);
    day.#prometheus.judge();
  }

  /** Lets minutes pass, and expects that these alerts fire in them, and no others. */
  async expectFired(minutes: number, alerts: readonly string[], minute?: Minute): Promise<void> {
    await this.#pass(minutes, minute);
    this.#prometheus.expectFired(minutes, alerts);
  }

  /** Lets minutes pass, and expects that the alert fires in them. @param without alerts that must not fire meanwhile */
  async expectAlert(
    alert: string,
    minutes: number,
    { without = [], ...minute }: Minute & { readonly without?: readonly string[] } = {},
  ): Promise<void> {
    await this.#pass(minutes, minute);
    this.#prometheus.expectFired(minutes, [alert], [alert, ...without]);
  }

  /** Lets minutes pass, after which nothing fires. */
  async expectCalm(minutes: number): Promise<void> {
    await this.#pass(minutes);
    this.#prometheus.expectFiring();
  }

  async #pass(minutes: number, { work = () => this.scene.settle(), foundAfterMs = 0 }: Minute = {}): Promise<void> {
    for (let left = minutes; left > 0; left -= 1) {
      await this.stage.timePasses(minuteMs);
      this.clock.passedMs += minuteMs;
      this.#question += 1;
      const createdAt = new Date(Date.now() - foundAfterMs).toISOString();
      await this.stage.put('questions', question(this.#question, 1 + (this.#question % 20), 1, { createdAt }));
      await work();
      this.#prometheus.scrape(await this.#metrics());
    }
  }

  /** Lets minutes pass in which the service accepts requests and never answers, and expects only this alert. */
  async expectAlertOfHangingService(alert: string, minutes: number): Promise<void> {
    await this.stage.fault({ kind: 'delay', ms: 3_600_000 });
    const givesUp = new AbortController();
    let reading: Promise<unknown> | undefined;
    const work = async (): Promise<void> => {
      const { deps } = this.scene;
      reading ??= this.scene.read({ workspace: 'acme', pigeonholeId: pigeonhole }, givesUp.signal).catch(() => null);
      await until('a request waits', async () => (await this.#waitingRequests()) > 0);
      this.clock.timers.pass(minuteMs);
      await until('the outage is known', async () => await isUnanswered(deps.ledger, 'acme'));
      await this.scene.deliver('hooks');
    };
    await this.expectFired(minutes, [alert], { work });
    expect(await this.#waitingRequests()).toBeGreaterThan(0); // none failed: the alert is about silence
    givesUp.abort();
    await reading;
  }

  async #waitingRequests(): Promise<number> {
    const { requests } = (await this.stage.control('GET', 'state')) as { requests?: { inFlight: number } };
    return requests!.inFlight;
  }

  async #metrics(): Promise<string> {
    const { ledger, config, configuration } = this.scene.deps;
    const quotas = () => viewQuotas(config, ledger, Date.now());
    const app = createApp(apiSources({ ledger, config, configuration, quotas, meters: this.meters }));
    const answer = await app.request('/metrics', { headers: asLocalUser });
    expect(answer.status).toBe(200);
    return await answer.text();
  }

  async tryNow(): Promise<void> {
    const { ledger, config } = this.scene.deps;
    const key = ledger.hash.fingerprint(config.workspaces['acme']!.apiKey.reveal());
    expect(await tryNow(ledger, { ...workspace, key })).toBeUndefined();
    expect(await tryNow(ledger, { kind: 'sink', name: 'hooks', key: null })).toBeUndefined();
  }
}

(hasPromtool() ? describe : describe.skip).each(kinds)('the shipped rules for Prometheus, on %s', (kind) => {
  it('do not fire during one hour of a healthy event', () =>
    EventDay.pass(kind, {}, async (day) => {
      await day.expectFired(60, []);
    }));

  it('do not fire while a new sink receives the existing items, however long it needs, until it makes no progress', () =>
    EventDay.pass(kind, { isFilled: false }, async (day) => {
      const { stage } = day;
      const received = (): number => stage.received('attendees').length;
      const work = async (): Promise<void> => {
        await stage.forgetAnswers();
        for (let key = received() + 2; key <= 20; key += 1) {
          await stage.planAnswer({ status: 503, list: 'attendees', key: String(key), count: 1000 });
        }
        await day.tryNow();
        await day.scene.settle();
      };
      await day.expectFired(10, [], { work });
      expect(received()).toBe(10);

      await stage.forgetAnswers();
      await stage.planAnswer({ status: 503, count: 100_000 });
      await day.expectAlert('PigeonpostBehind', 6);
      await stage.forgetAnswers();
      await day.tryNow();
      await day.expectCalm(3);
      expect(received()).toBe(20);
    }));

  it('fire for each fault, and stop firing when the fault ends', () =>
    EventDay.pass(kind, {}, async (day) => {
      const { stage } = day;
      await day.expectFired(2, []);

      await stage.fault({ kind: 'dropBefore' });
      await day.expectAlert('PigeonpostServiceDown', 3);
      await stage.control('DELETE', 'faults');
      await day.tryNow();
      await day.expectCalm(16);

      await day.expectAlertOfHangingService('PigeonpostServiceDown', 3);
      await stage.control('DELETE', 'faults');
      await day.tryNow();
      await day.expectCalm(3);

      await stage.control('POST', 'keys', { accepted: ['another-key'] });
      await day.expectAlert('PigeonpostWorkspacePaused', 2);
      await stage.control('POST', 'keys', { accepted: ['sandbox-key'] });
      await day.tryNow();
      await day.expectCalm(3);

      await stage.control('PATCH', 'knobs', { quota: { limit: 1, windowSeconds: 1800, headers: true } });
      await day.expectAlert('PigeonpostQuotaUsedUp', 3);
      await day.expectAlert('PigeonpostQuotaShort', 5);
      await stage.control('PATCH', 'knobs', { quota: { limit: 1_000_000, windowSeconds: 86_400, headers: true } });
      await day.tryNow();
      await day.expectCalm(6);

      for (const answer of [{ status: 503 }, { status: 429, retryAfter: '1800' }]) {
        await stage.planAnswer({ ...answer, count: 100_000 });
        await day.expectAlert('PigeonpostBehind', 6);
        await stage.forgetAnswers();
        await day.tryNow();
        await day.expectCalm(3);
      }

      await stage.planAnswer({ status: 410, count: 1 });
      await day.expectAlert('PigeonpostSinkPaused', 2);
      await stage.db.query('delete from pauses');
      await day.expectCalm(2);

      await stage.planAnswer({ status: 422, list: 'attendees', count: 12 });
      await stage.put('attendees', ...Array.from({ length: 12 }, (_, index) => attendee(index + 200)));
      await day.expectAlert('PigeonpostDeadLetters', 3);
      // A mapping that fails parks changes under the same metric.
      await stage.db.query("update deliveries set reason = 'mapping: hooks.x: T0410' where state = 'dead'");
      await day.expectAlert('PigeonpostDeadLetters', 2);
    }));

  it('fire for a list that is read late, and for a service that fails many requests', () =>
    EventDay.pass(kind, {}, async (day) => {
      const { stage } = day;
      await day.expectFired(16, []); // rates and quantiles need a healthy past

      await stage.fault({ kind: 'error', list: 'questions' });
      await day.expectFired(5, ['PigeonpostReadingStale']);
      await stage.control('DELETE', 'faults');
      await day.tryNow();
      await day.expectCalm(4);

      await stage.fault({ kind: 'error', rate: 0.5 });
      await day.expectAlert('PigeonpostServiceErrors', 15, { without: ['PigeonpostServiceDown'] });
      await stage.control('DELETE', 'faults');
      await day.tryNow();
      await day.expectCalm(12);
    }));

  it('fire for new items that are found late, and for nothing else', () =>
    EventDay.pass(kind, {}, async (day) => {
      await day.expectFired(20, ['PigeonpostDetectionSlow'], { foundAfterMs: 3 * minuteMs });
      await day.expectCalm(18);
    }));

  it('fire if a typo in a mapping withholds every record although no delivery fails', () => {
    const records = `[{ from: attendees, object: contacts, match: [email], properties: { email: '$email(item.email)' } }]`;
    const crm = `{ type: hubspot, token: "\${CRM_TOKEN}", baseUrl: "http://127.0.0.1:9", lists: [attendees], ${everyone}, records: ${records} }`;
    return EventDay.pass(kind, { sinks: { crm } }, async (day) => {
      await day.expectFired(4, ['PigeonpostSinkWithholding']);
    });
  });
});
