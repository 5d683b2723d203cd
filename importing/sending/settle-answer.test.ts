import fc from 'fast-check';
import { type Fate, ModelService, type Person, type ServiceBehavior } from './model-service.test-kit.js';
import { countToSend, settleAnswer } from './settle-answer.js';
import type { Piece } from '../../ledger/imports/chunks.js';

const fresh: Omit<Piece, 'rows'> = {
  sent: 'never',
  origin: null,
  suspects: null,
  next: null,
  fruitful: false,
  unknowns: 0,
};

interface Told {
  outcome: 'created' | 'confirmed' | 'existing' | 'rejected' | 'unknown';
  origin: number | null;
  sent: 'refused' | 'unknown' | null;
}

/**
 * Sends people with the rules under test, chunk by chunk and piece by piece, and keeps the state that the ledger would
 * store.
 */
function importAll(
  people: readonly Person[],
  service: ModelService,
  {
    chunkSize = 1000,
    fateOf = (): Fate => 'answered',
    refused = new Set(),
  }: {
    chunkSize?: number;
    fateOf?: (request: number) => Fate;
    /** Collects the codes of every request that was refused because of one of its rows. */
    refused?: Set<string>;
  } = {},
): Map<string, Told> {
  const told = new Map<string, Told>();
  const work: { piece: Piece; codes: string[] }[] = [];
  for (let from = 0; from < people.length; from += chunkSize) {
    const codes = people.slice(from, from + chunkSize).map(({ code }) => code);
    work.push({ piece: { ...fresh, rows: codes.length }, codes });
  }
  let refusesWhole = false;
  for (let request = 1; work.length > 0; request += 1) {
    if (request > 200_000) throw new Error('it never ends');
    const { piece, codes } = work.shift()!;
    const count = countToSend(piece);
    const answer = service.post(codes.slice(0, count), fateOf(request));
    if (answer.kind === 'refused') for (const code of codes.slice(0, count)) refused.add(code);
    const settlement = settleAnswer(piece, { count, request, refusesWhole }, answer);
    const own = new Set(settlement.rows.map(({ index }) => index));
    for (const { index, outcome, origin, sent } of settlement.rows) told.set(codes[index]!, { outcome, origin, sent });
    let left = codes.filter((_, index) => !own.has(index));
    expect(settlement.pieces.reduce((sum, { rows }) => sum + rows, 0)).toBe(left.length);
    const next: typeof work = [];
    for (const { created, ...part } of settlement.pieces) {
      const of = left.slice(0, part.rows);
      left = left.slice(part.rows);
      if (created) for (const code of of) told.set(code, { outcome: 'created', origin: null, sent: null });
      else next.push({ piece: part, codes: of });
    }
    work.unshift(...next);
    refusesWhole ||= settlement.refusesWhole;
    const isWithoutEffect = ({ origin, sent }: Pick<Told, 'origin' | 'sent'> | Piece): boolean =>
      (origin !== null && origin === settlement.withoutEffect) || (settlement.refusesWhole && sent === 'refused');
    for (const each of told.values()) {
      if (!isWithoutEffect(each)) continue;
      if (each.outcome === 'confirmed') each.outcome = 'existing';
      if (each.outcome === 'unknown') each.outcome = 'rejected';
    }
    for (const each of work) {
      if (isWithoutEffect(each.piece)) each.piece = { ...each.piece, sent: 'never', origin: null };
    }
  }
  return told;
}

function peopleOf(count: number, isBad: (index: number) => boolean = () => false): Person[] {
  return Array.from({ length: count }, (_, index) => ({ code: `c${index}`, isBad: isBad(index) }));
}

function serviceFor(people: readonly Person[], manners: Partial<ServiceBehavior> = {}): ModelService {
  const bad = new Set(people.filter(({ isBad }) => isBad).map(({ code }) => code));
  const usual: ServiceBehavior = { atomic: true, errors: 'indexed', duplicates: 'refuse-row', maxRows: 1000 };
  return new ModelService({ ...usual, ...manners }, (code) => bad.has(code));
}

function countOutcomes(told: ReadonlyMap<string, Told>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of told.values()) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

describe('settling the answers to an import', () => {
  it('needs one request per chunk if no row is refused', () => {
    const people = peopleOf(2000);
    const service = serviceFor(people);
    expect(countOutcomes(importAll(people, service))).toEqual({ created: 2000 });
    expect(service.requests).toBe(2);
  });

  it.each(['scattered', 'in one heap', 'first of each chunk', 'last of each chunk'])(
    'finds 300 bad rows of 30,000 (%s) with at most 12 requests each if complaints name no row',
    (where) => {
      const isBad = (index: number): boolean => {
        if (where === 'scattered') return (index * 7919) % 100 === 0;
        if (where === 'in one heap') return index >= 10_000 && index < 10_300;
        return index % 500 === (where.startsWith('first') ? 0 : 499) || (where.startsWith('first') && index < 240);
      };
      const people = peopleOf(30_000, isBad);
      const bad = people.filter((person) => person.isBad).length;
      const service = serviceFor(people, { errors: 'none' });
      expect(countOutcomes(importAll(people, service))).toEqual({ created: 30_000 - bad, rejected: bad });
      expect(service.requests - 30).toBeLessThanOrEqual(12 * bad);
    },
  );

  it('confirms a chunk whose response was lost with one more request if complaints name rows', () => {
    const people = peopleOf(500);
    const service = serviceFor(people);
    const told = importAll(people, service, { fateOf: (request) => (request === 1 ? 'lost-after' : 'answered') });
    expect(countOutcomes(told)).toEqual({ confirmed: 500 });
    expect(service.requests).toBe(2);
  });

  it('confirms rows one by one if a duplicate refuses the whole chunk, with less than 4 % more requests than rows', () => {
    const people = peopleOf(500);
    const service = serviceFor(people, { duplicates: 'refuse-chunk' });
    const told = importAll(people, service, { fateOf: (request) => (request === 1 ? 'lost-after' : 'answered') });
    expect(countOutcomes(told)).toEqual({ confirmed: 500 });
    expect(service.requests).toBeLessThan(520);
  });

  it('sends a whole chunk again if its request was lost before it reached the service', () => {
    const people = peopleOf(500);
    const service = serviceFor(people, { duplicates: 'refuse-chunk' });
    const told = importAll(people, service, { fateOf: (request) => (request === 1 ? 'lost-before' : 'answered') });
    expect(countOutcomes(told)).toEqual({ created: 500 });
    expect(service.requests).toBe(2);
  });

  it('distinguishes an existing registrant from those that the request without an answer has created', () => {
    const people = peopleOf(100);
    const service = serviceFor(people);
    service.registered.set('c7', 1);
    const told = importAll(people, service, { fateOf: (request) => (request === 1 ? 'lost-after' : 'answered') });
    expect(countOutcomes(told)).toEqual({ created: 99, existing: 1 });
    expect(told.get('c7')?.outcome).toBe('existing');
  });

  it('learns how many rows the service accepts', () => {
    const people = peopleOf(1000);
    const service = serviceFor(people, { maxRows: 120 });
    expect(countOutcomes(importAll(people, service))).toEqual({ created: 1000 });
    expect(service.requests).toBeLessThanOrEqual(1 + 2 + 4 + 8 + 16);
  });

  it('halves a chunk after each two missing answers, down to a single row', () => {
    const asked: number[] = [];
    let piece: Piece = { ...fresh, rows: 8 };
    for (let request = 1; request <= 8; request += 1) {
      const count = countToSend(piece);
      asked.push(count);
      piece = settleAnswer(piece, { count, request, refusesWhole: false }, { kind: 'unknown' }).pieces[0]!;
    }
    expect(asked).toEqual([8, 8, 4, 4, 2, 2, 1, 1]);
  });

  it('leaves a piece unchanged if the request was certainly not carried out', () => {
    const piece = { ...fresh, rows: 10 };
    expect(settleAnswer(piece, { count: 10, request: 1, refusesWhole: false }, { kind: 'failed' }).pieces).toEqual([
      { ...piece, created: false },
    ]);
  });
});

const mannersArbitrary = fc.record({
  atomic: fc.boolean(),
  errors: fc.constantFrom('indexed', 'from-one', 'first-only', 'named', 'none'),
  duplicates: fc.constantFrom('refuse-row', 'refuse-chunk', 'ignore', 'upsert'),
  maxRows: fc.constantFrom(5, 1000),
} as const);

describe('an import, for every behaviour of a bulk create,', () => {
  it('creates every good registrant exactly once, and reports the true outcome of each row', () => {
    fc.assert(
      fc.property(
        mannersArbitrary,
        fc.integer({ min: 1, max: 40 }),
        fc.uniqueArray(fc.nat(39), { maxLength: 6 }),
        fc.uniqueArray(fc.nat(39), { maxLength: 4 }),
        fc.array(fc.constantFrom<Fate>('answered', 'answered', 'answered', 'lost-before', 'lost-after'), {
          maxLength: 40,
        }),
        (manners, size, badPlaces, earlier, fates) => {
          const people = peopleOf(size, (index) => badPlaces.includes(index));
          const service = serviceFor(people, manners);
          for (const place of earlier) {
            if (place < size && !badPlaces.includes(place)) service.registered.set(`c${place}`, 1);
          }
          const before = new Set(service.registered.keys());
          const refused = new Set<string>();
          const told = importAll(people, service, {
            chunkSize: 16,
            fateOf: (request) => fates[request - 1] ?? 'answered',
            refused,
          });
          // The only proof that a refused request has created nothing.
          const showsItself = people.some(({ code }) => refused.has(code) && told.get(code)?.outcome === 'created');
          const isLossy = fates.slice(0, service.requests).some((fate) => fate !== 'answered');
          for (const { code, isBad } of people) {
            const { outcome } = told.get(code)!;
            expect(service.registered.has(code)).toBe(!isBad);
            // Only a service that gives no reasons can leave a row in doubt.
            if (outcome === 'unknown') expect(manners.errors).toBe('none');
            else if (manners.errors !== 'none') expect([code, outcome === 'rejected']).toEqual([code, isBad]);
            else if (outcome === 'created') expect(isBad).toBe(false);
            if (outcome === 'existing' && !isLossy && manners.atomic) expect(before.has(code)).toBe(true);
            // A registrant that existed before an unanswered request looks like one that the request created.
            if (outcome === 'confirmed' && !isLossy && manners.atomic && showsItself) {
              expect(before.has(code)).toBe(false);
            }
          }
          expect(service.requests).toBeLessThan(20 * size + 60);
        },
      ),
      { numRuns: Number(process.env['SETTLE_RUNS'] ?? 150) },
    );
  });
});
