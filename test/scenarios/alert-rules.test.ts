import { apiSources, asLocalUser } from '../../api/api-sources.test-kit.js';
import { createApp } from '../../api/create-app.js';
import { ProcessMeters } from '../../api/metrics/serve-metrics.js';
import { tryNow } from '../../operations/act.js';
import { viewQuotas } from '../../operations/status-view.js';
import { isUnanswered } from '../../ledger/workspaces.js';
import { attendee, pollVote, question, session } from '../kit/items.js';
import { HandTimers } from '../kit/hand-timers.js';
import { PrometheusRules } from '../kit/prometheus-rules.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { everyone, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { until } from '../until.js';

/*
 * The rules of deploy/alerts.yml over what /metrics prints: a minute of the ledger passes between two scrapes, in which the
 * work that is due is done and the audience does something.
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
  readonly #rules = new PrometheusRules();
  #minute = 0;
  #question = 100;

  private constructor(
    readonly stage: Stage,
    readonly scene: Scene,
    private readonly meters: ProcessMeters,
    private readonly clock: { passedMs: number; readonly timers: HandTimers },
  ) {}

  /** A live pigeonhole: one session runs, a poll has ended filling its lists, two sessions come later. */
  static async open(
    kind: (typeof kinds)[number],
    {
      sinks = {},
      isFilled = true,
    }: { readonly sinks?: Readonly<Record<string, string>>; readonly isFilled?: boolean } = {},
  ): Promise<EventDay> {
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
    return new EventDay(stage, scene, meters, clock);
  }

  /** Lets minutes pass, until a condition holds. @returns the alerts that fire then, and every one that fired meanwhile */
  async pass(
    minutes: number,
    isEnough: (firing: readonly string[]) => boolean = () => false,
    { work = () => this.scene.settle(), foundAfterMs = 0 }: Minute = {},
  ): Promise<{ firing: string[]; fired: string[] }> {
    let firing: string[] = [];
    const fired = new Set<string>();
    for (let left = minutes; left > 0; left -= 1) {
      await this.stage.timePasses(minuteMs);
      this.clock.passedMs += minuteMs;
      this.#minute += 1;
      this.#question += 1;
      const createdAt = new Date(Date.now() - foundAfterMs).toISOString();
      await this.stage.put('questions', question(this.#question, 1 + (this.#question % 20), 1, { createdAt }));
      await work();
      firing = this.#rules.scrape(await this.#metrics(), this.#minute * minuteMs);
      for (const alert of firing) fired.add(alert);
      if (isEnough(firing)) break;
    }
    return { firing, fired: [...fired] };
  }

  /** Lets minutes pass until the alert fires. @returns every alert that fired meanwhile */
  async expectAlert(alert: string, minutes: number, minute?: Minute): Promise<string[]> {
    const { fired } = await this.pass(minutes, (firing) => firing.includes(alert), minute);
    expect(fired).toContain(alert);
    return fired;
  }

  /** Lets minutes pass in which the service accepts requests and never answers, until the alert fires. */
  async expectAlertOfHangingService(alert: string, minutes: number): Promise<string[]> {
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
    const fired = await this.expectAlert(alert, minutes, { work });
    expect(await this.#waitingRequests()).toBeGreaterThan(0); // none failed: the alert is about silence
    givesUp.abort();
    await reading;
    return fired;
  }

  async #waitingRequests(): Promise<number> {
    const { requests } = (await this.stage.control('GET', 'state')) as { requests?: { inFlight: number } };
    return requests!.inFlight;
  }

  /** Lets minutes pass until nothing fires. */
  async expectCalm(minutes: number): Promise<void> {
    const { firing } = await this.pass(minutes, (found) => found.length === 0);
    expect(firing).toEqual([]);
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

describe.each(kinds)('the shipped rules for Prometheus, on %s', (kind) => {
  it('do not fire during one hour of a healthy event', async () => {
    const day = await EventDay.open(kind);
    expect((await day.pass(60)).fired).toEqual([]);
  });

  it('do not fire while a new sink receives the existing items, however long it needs, until it makes no progress', async () => {
    const day = await EventDay.open(kind, { isFilled: false });
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
    expect((await day.pass(10, () => false, { work })).fired).toEqual([]);
    expect(received()).toBe(10);

    await stage.forgetAnswers();
    await stage.planAnswer({ status: 503, count: 100_000 });
    await day.expectAlert('PigeonpostBehind', 6);
    await stage.forgetAnswers();
    await day.tryNow();
    await day.expectCalm(6);
    expect(received()).toBe(20);
  });

  it('fire for each fault, and stop firing when the fault ends', async () => {
    const day = await EventDay.open(kind);
    const { stage } = day;
    await day.pass(2);

    await stage.fault({ kind: 'dropBefore' });
    await day.expectAlert('PigeonpostServiceDown', 6);
    await stage.control('DELETE', 'faults');
    await day.tryNow();
    await day.expectCalm(16);

    expect(await day.expectAlertOfHangingService('PigeonpostServiceDown', 3)).toEqual(['PigeonpostServiceDown']);
    await stage.control('DELETE', 'faults');
    await day.tryNow();
    await day.expectCalm(16);

    await stage.control('POST', 'keys', { accepted: ['another-key'] });
    await day.expectAlert('PigeonpostWorkspacePaused', 3);
    await stage.control('POST', 'keys', { accepted: ['sandbox-key'] });
    await day.tryNow();
    await day.expectCalm(3);

    await stage.control('PATCH', 'knobs', { quota: { limit: 1, windowSeconds: 1800, headers: true } });
    await day.expectAlert('PigeonpostQuotaUsedUp', 3);
    await day.expectAlert('PigeonpostQuotaShort', 10);
    await stage.control('PATCH', 'knobs', { quota: { limit: 1_000_000, windowSeconds: 86_400, headers: true } });
    await day.tryNow();
    await day.expectCalm(10);

    for (const answer of [{ status: 503 }, { status: 429, retryAfter: '1800' }]) {
      await stage.planAnswer({ ...answer, count: 100_000 });
      await day.expectAlert('PigeonpostBehind', 8);
      await stage.forgetAnswers();
      await day.tryNow();
      await day.expectCalm(6);
    }

    await stage.planAnswer({ status: 410, count: 1 });
    await day.expectAlert('PigeonpostSinkPaused', 3);
    await stage.db.query('delete from pauses');
    await day.expectCalm(6);

    await stage.planAnswer({ status: 422, list: 'attendees', count: 12 });
    await stage.put('attendees', ...Array.from({ length: 12 }, (_, index) => attendee(index + 200)));
    await day.expectAlert('PigeonpostDeadLetters', 4);
    // A mapping that fails parks changes under the same metric.
    await stage.db.query("update deliveries set reason = 'mapping: hooks.x: T0410' where state = 'dead'");
    await day.expectAlert('PigeonpostDeadLetters', 2);
  });

  it('fire for a list that is read late, and for a service that fails many requests', async () => {
    const day = await EventDay.open(kind);
    const { stage } = day;
    await day.pass(16); // rates and quantiles need a healthy past

    await stage.fault({ kind: 'error', list: 'questions' });
    expect(await day.expectAlert('PigeonpostReadingStale', 6)).toEqual(['PigeonpostReadingStale']);
    await stage.control('DELETE', 'faults');
    await day.tryNow();
    await day.expectCalm(12);

    await stage.fault({ kind: 'error', rate: 0.5 });
    const others = await day.expectAlert('PigeonpostServiceErrors', 30);
    expect(others).not.toContain('PigeonpostServiceDown');
    await stage.control('DELETE', 'faults');
    await day.tryNow();
    await day.expectCalm(16);
  });

  it('fire for new items that are found late, and for nothing else', async () => {
    const day = await EventDay.open(kind);
    const late = { foundAfterMs: 3 * minuteMs };
    await day.pass(20, () => false, late);
    expect(await day.expectAlert('PigeonpostDetectionSlow', 31, late)).toEqual(['PigeonpostDetectionSlow']);
    await day.expectCalm(31);
  });

  it('fire if a typo in a mapping withholds every record although no delivery fails', async () => {
    const records = `[{ from: attendees, object: contacts, match: [email], properties: { email: '$email(item.email)' } }]`;
    const crm = `{ type: hubspot, token: "\${CRM_TOKEN}", baseUrl: "http://127.0.0.1:9", lists: [attendees], ${everyone}, records: ${records} }`;
    const day = await EventDay.open(kind, { sinks: { crm } });
    await day.expectAlert('PigeonpostSinkWithholding', 3);
    expect((await day.pass(1)).firing).toEqual(['PigeonpostSinkWithholding']);
  });

  it('fire if pigeonpost or its store does not answer', () => {
    const rules = new PrometheusRules();
    for (let minute = 0; minute < 3; minute += 1) rules.scrape(null, minute * minuteMs);
    expect(rules.scrape(null, 3 * minuteMs)).toContain('PigeonpostDown');
    const noStore = ['build_info{version="1"} 1', 'store_up 0', 'process_failing 1'];
    const text = noStore.map((line) => `pigeonpost_${line}`).join('\n');
    for (let minute = 4; minute < 7; minute += 1) rules.scrape(text, minute * minuteMs);
    expect(rules.scrape(text, 7 * minuteMs)).toEqual(['PigeonpostFailing', 'PigeonpostStoreUnreachable']);
  });

  it.each([
    ['PigeonpostDeletionsHeld', 'pigeonpost_held_deletions{workspace="acme"} 7'],
    ['PigeonpostAlertsNotTaken', 'pigeonpost_alert_messages_waiting 1'],
    ['PigeonpostSweepOld', 'pigeonpost_sweep_late_seconds{sync="all"} 18001'],
    ['PigeonpostWorkersBusy', 'temporal_worker_task_slots_available{worker_type="ActivityWorker"} 0'],
  ])('fire %s for %s', (alert, line) => {
    const rules = new PrometheusRules();
    const text = `pigeonpost_build_info{version="1"} 1\n${line}\n`;
    const firing = Array.from({ length: 40 }, (_, minute) => rules.scrape(text, minute * minuteMs)).at(-1);
    expect(firing).toEqual([alert]);
  });
});
