import { type PlanOptions, planChaos } from './plan.js';

const options: PlanOptions = { seed: 1, durationMs: 120_000, store: 'any', deletions: true };
const seeds = Array.from({ length: 40 }, (_, seed) => seed);

describe('the plan of a chaos run', () => {
  it('depends only on the seed', () => {
    expect(planChaos(options)).toEqual(planChaos(options));
    expect(planChaos(options)).not.toEqual(planChaos({ ...options, seed: 2 }));
  });

  it('orders its actions and keeps them within its duration', () => {
    for (const seed of seeds) {
      const times = planChaos({ ...options, seed }).deeds.map(({ atMs }) => atMs);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(times.filter((atMs) => atMs < 0 || atMs >= options.durationMs)).toEqual([]);
    }
  });

  it('uses both stores, every target and every failure over a few seeds', () => {
    const plans = seeds.map((seed) => planChaos({ ...options, seed }));
    expect(new Set(plans.map(({ store }) => store))).toEqual(new Set(['embedded', 'postgres']));
    const deeds = plans.flatMap((plan) => plan.deeds.map(({ deed }) => deed));
    const victims = deeds.flatMap((deed) => (deed.do === 'kill' ? [deed.victim] : []));
    expect(new Set(victims)).toEqual(new Set(['parent', 'worker', 'temporal', 'store', 'everything']));
    const modes = deeds.flatMap((deed) => (deed.do === 'receiver' ? [deed.mode] : []));
    expect(new Set(modes)).toEqual(new Set(['5xx', '429', 'hang', 'dropBefore', 'dropAfter', 'refuse']));
    expect(new Set(deeds.map((deed) => deed.do)).size).toBe(11);
    expect(new Set(plans.map(({ clockAheadMs }) => clockAheadMs))).toEqual(new Set([0, 90_000, -90_000]));
  });

  it('shortens lists once or repeatedly, ignores filters and signs cursors over a few seeds', () => {
    const plans = seeds.map((seed) => planChaos({ ...options, seed }));
    const rules = plans.flatMap(({ deeds }) => deeds.flatMap(({ deed }) => (deed.do === 'faults' ? deed.rules : [])));
    const times = plans.flatMap(({ deeds }) => deeds.flatMap(({ deed }) => (deed.do === 'short' ? [deed.times] : [])));
    expect(new Set(times)).toEqual(new Set([2, 3]));
    for (const kind of ['shortList', 'ignoreFilters']) expect(rules.some((rule) => rule['kind'] === kind)).toBe(true);
    expect(new Set(plans.map(({ service }) => service.knobs['cursorText']))).toEqual(new Set(['plain', 'signed']));
  });

  it('shortens one list for less than the time to confirm a deletion', () => {
    for (const seed of seeds) {
      const { deeds } = planChaos({ ...options, seed });
      const short = deeds.flatMap(({ deed }) => {
        if (deed.do === 'short') return [{ list: deed.list, forMs: deed.forMs }];
        const rules = deed.do === 'faults' ? deed.rules.filter(({ kind }) => kind === 'shortList') : [];
        return rules.map(({ list }) => ({ list, forMs: deed.do === 'faults' ? deed.forMs : 0 }));
      });
      expect(new Set(short.map(({ list }) => list)).size).toBe(short.length);
      expect(short.filter(({ forMs }) => forMs > 4000)).toEqual([]);
    }
  });

  it('makes the clock of a worker jump forward and backward, but not with an embedded store', () => {
    const jumps = (store: 'embedded' | 'postgres'): number[] =>
      seeds.flatMap((seed) =>
        planChaos({ ...options, seed, store }).deeds.flatMap(({ deed }) => (deed.do === 'clock' ? [deed.aheadMs] : [])),
      );
    expect(new Set(jumps('postgres'))).toEqual(new Set([-90_000, -20_000, 0, 30_000, 90_000]));
    expect(jumps('embedded')).toEqual([]);
  });

  it('neither kills nor pauses a process that is already paused', () => {
    for (const seed of seeds) {
      const { deeds } = planChaos({ ...options, seed });
      const stops = deeds.flatMap(({ atMs, deed }) =>
        deed.do === 'stop' ? [{ victim: deed.victim, atMs, untilMs: atMs + deed.forMs }] : [],
      );
      for (const { victim, atMs, untilMs } of stops) {
        const within = deeds.filter((each) => atMs < each.atMs && each.atMs <= untilMs).map(({ deed }) => deed);
        const kills = within.flatMap((deed) => (deed.do === 'kill' ? [deed.victim] : []));
        expect(kills.filter((killed) => killed === victim || killed === 'everything')).toEqual([]);
        expect(within.filter((deed) => deed.do === 'stop')).toEqual([]);
      }
    }
  });

  it('kills no worker and no store server if the store is embedded', () => {
    const deeds = seeds.flatMap((seed) => planChaos({ ...options, seed, store: 'embedded' }).deeds);
    expect(deeds.filter(({ deed }) => deed.do === 'kill' && ['worker', 'store'].includes(deed.victim))).toEqual([]);
    expect(deeds.filter(({ deed }) => deed.do === 'stop' && deed.victim === 'worker')).toEqual([]);
  });

  it('removes no items if deletions are disabled', () => {
    for (const seed of seeds) {
      const { service, deeds } = planChaos({ ...options, seed, deletions: false });
      expect(service.knobs).toMatchObject({
        withdrawal: 'status',
        traffic: { voteWithdrawal: 0, deletion: 0, reappearance: 0 },
      });
      const rules = deeds.flatMap(({ deed }) => (deed.do === 'faults' ? deed.rules : []));
      expect(rules.filter(({ remove }) => remove !== undefined && remove !== 0)).toEqual([]);
    }
  });
});
