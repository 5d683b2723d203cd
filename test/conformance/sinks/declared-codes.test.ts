import { allSinks } from '../../../sinks/all-sinks.js';
import { declaredByType } from '../../../sinks/all-reasons.js';
import { subjectOf } from '../../../sinks/plan-of.test-kit.js';
import { commonReasons, engineCauses, engineReasons, type Reasons } from '../../../sinks/reasons.js';
import { sampleChange } from '../../../sinks/sample-change.test-kit.js';
import { laneOf } from '../../../sinks/sink-environment.test-kit.js';
import type { Outcome, Planned, Sink } from '../../../sinks/sink.js';
import { documentsSinkType } from '../../../docs/examples/documents-sink.js';
import { withDeclaredCodes } from './declared-codes.js';

const subject = subjectOf(sampleChange());
const signal = new AbortController().signal;

/** A sink with this plan and this outcome. */
const sinkWith = (planned: Planned, outcome: Outcome): Sink => ({
  traits: { order: 'item', needsContext: false, revisions: 'latest', repeats: 'lookUp', batchSize: 1 },
  check: async () => [],
  plan: async () => [planned],
  planLookUp: async () => [planned],
  preview: () => [],
  send: async () => ({ outcomes: [outcome] }),
  recover: async () => ({ outcomes: [outcome] }),
  close: async () => undefined,
});

describe('the conformance suites', () => {
  const declaring = {
    type: 'badges',
    reasons: commonReasons('condition'),
    causes: { 'badges:*': engineCauses['attempts-exhausted'] },
  };
  const runs = (planned: Planned, outcome: Outcome): readonly (() => Promise<unknown>)[] => {
    const sink = withDeclaredCodes(declaring, sinkWith(planned, outcome));
    return [
      () => sink.plan([subject]),
      () => sink.planLookUp!([subject]),
      () => sink.send([], laneOf(), signal),
      () => sink.recover!([], laneOf(), signal),
    ];
  };
  const rejected = (cause: string): Outcome => ({ kind: 'rejected', cause, detail: 'refused' });
  const unplannable = (cause: string): Planned => ({ kind: 'unplannable', cause, detail: 'failed' });

  it('fail a sink whose plans or outcomes have codes that its type does not declare', async () => {
    for (const run of runs({ kind: 'nothing', reason: 'no-badge' }, rejected('odd'))) {
      await expect(run()).rejects.toThrow(/^sink type badges does not declare (no-badge|odd)$/);
    }
    await expect(runs(unplannable('odd'), rejected('badges:7'))[0]!()).rejects.toThrow('does not declare odd');
  });

  it('accept declared codes, and those of failed mappings', async () => {
    const accepted = [
      runs({ kind: 'nothing', reason: 'condition' }, rejected('badges:unknown-person')),
      runs(unplannable('mapping: badges.person: T0410'), { kind: 'delivered' }),
    ];
    for (const run of accepted.flat()) expect(await run()).toBeDefined();
  });
});

const all = [...allSinks.values(), documentsSinkType];

/** Part of a sentence on one line. */
const isPhrase = /^\S[^\n]{3,160}[^.\s]$/;

describe.each(all.map((type) => [type.type, type] as const))('the declarations of %s', (name, { reasons, causes }) => {
  it('are those that the page and the command line show', () => {
    if (name === documentsSinkType.type) return;
    expect(declaredByType[name]).toEqual({ reasons, causes });
  });

  it('describe each reason in words, and the key that should have supplied a missing value', () => {
    for (const [code, { short, sentence, kind, readBy, help }] of Object.entries(reasons)) {
      expect(code).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
      for (const text of [short, sentence, ...(help === undefined ? [] : [help])]) expect(text).toMatch(isPhrase);
      if (kind === 'missing-value') expect([code, readBy]).toEqual([code, expect.any(Object)]);
    }
  });

  it('describe each cause, and what helps', () => {
    for (const [code, { meaning, help, outcomeUnknown }] of Object.entries(causes)) {
      expect(code).toMatch(/^(?:[\w:.+-]+\*?|\*)$/);
      for (const text of [meaning, help]) expect(text).toMatch(isPhrase);
      if (outcomeUnknown === true) expect(code).not.toMatch(/\*$/); // the store compares whole codes
    }
  });
});

describe('a code', () => {
  it('means the same in every sink and in the engine', () => {
    const meanings = new Map<string, Set<string>>();
    for (const reasons of [...all.map((type) => type.reasons), engineReasons] as Reasons[]) {
      for (const [code, { readBy: _, ...meaning }] of Object.entries(reasons)) {
        meanings.set(code, (meanings.get(code) ?? new Set()).add(JSON.stringify(meaning)));
      }
    }
    expect([...meanings].filter(([, different]) => different.size > 1)).toEqual([]);
    const causes = new Map<string, Set<string>>();
    for (const own of [...all.map((type) => type.causes), engineCauses]) {
      for (const [code, cause] of Object.entries(own)) {
        causes.set(code, (causes.get(code) ?? new Set()).add(JSON.stringify(cause)));
      }
    }
    expect([...causes].filter(([, different]) => different.size > 1)).toEqual([]);
  });
});
