import { ServiceWatch } from './service-watch.js';

/** Watches one workspace. A test advances its clock in seconds, with two ticks per second. */
function watching() {
  const known = { isDown: false, isSuspected: false };
  const silences: string[] = [];
  const witnesses: ((isAnswered: boolean) => void)[] = [];
  let now = 0;
  const watch = new ServiceWatch(
    {
      isDown: () => known.isDown,
      isSuspected: () => known.isSuspected,
      silent: async (workspace, { message }, startedAt) => {
        known.isDown = true;
        silences.push(`${workspace} at ${now / 1000} s since ${startedAt / 1000} s: ${message}`);
      },
    },
    () => now,
  );
  const ask = async (workspace: string): Promise<void> => {
    const ended = watch.sent(workspace);
    await new Promise<void>((resolve) => {
      witnesses.push((isAnswered) => {
        ended(isAnswered);
        resolve();
      });
    });
  };
  return {
    known,
    silences,
    witnesses,
    sent: () => watch.sent('acme'),
    pass: async (seconds: number): Promise<void> => {
      for (let left = seconds * 2; left > 0; left -= 1) {
        now += 500;
        await watch.tick(ask);
      }
    },
    /** Simulates a suspended process: one tick, however much time has passed. */
    standStill: async (seconds: number): Promise<void> => {
      now += seconds * 1000;
      await watch.tick(ask);
    },
  };
}

describe('a service that hangs', () => {
  it('is called silent 3 s after a request was sent if neither the request nor its witness is answered', async () => {
    const { sent, pass, silences, witnesses } = watching();
    sent();
    await pass(0.5);
    expect(witnesses).toHaveLength(0);
    await pass(0.5);
    expect([witnesses.length, silences]).toEqual([1, []]);
    await pass(1.5);
    expect(silences).toEqual([]);
    await pass(0.5);
    expect(silences).toEqual(['acme at 3 s since 0 s: none of 2 requests was answered within 3 s']);
  });

  it('is called silent, with one witness, if several requests are not answered', async () => {
    const { sent, pass, silences, witnesses } = watching();
    for (let n = 0; n < 4; n += 1) sent();
    await pass(3);
    expect([witnesses.length, silences.length]).toEqual([1, 1]);
  });

  it('is checked every 5 s, and every 10 s after ten minutes', async () => {
    const { sent, pass, silences, witnesses } = watching();
    sent();
    await pass(3);
    expect(silences).toHaveLength(1);
    witnesses[0]!(false);
    for (let n = 0; n < 120; n += 1) {
      await pass(5);
      witnesses.at(-1)!(false);
    }
    expect(witnesses.length).toBe(121);
    for (let n = 0; n < 60; n += 1) {
      await pass(1);
      witnesses.at(-1)!(false);
    }
    expect(witnesses).toHaveLength(127);
  });
});

describe('a service that answers', () => {
  it('is not called silent for one lost request, and gets a few witnesses', async () => {
    const { sent, pass, silences, witnesses } = watching();
    sent(); // hangs until its deadline
    let answered = 0;
    for (let passed = 0; passed < 30; passed += 0.5) {
      await pass(0.5);
      for (const answer of witnesses.slice(answered)) answer(true);
      answered = witnesses.length;
    }
    expect([silences, witnesses.length]).toEqual([[], 4]); // after 1, 2, 4 and 8 s without a response
  });

  it('is not called silent while it answers witnesses and is slow for several other requests', async () => {
    const { sent, pass, silences, witnesses } = watching();
    for (let n = 0; n < 4; n += 1) sent();
    let answered = 0;
    for (let passed = 0; passed < 28; passed += 0.5) {
      await pass(0.5);
      for (const answer of witnesses.slice(answered)) answer(true);
      answered = witnesses.length;
    }
    expect(silences).toEqual([]);
    expect(witnesses.length).toBeLessThan(10);
  });

  it('is not called silent because this process was suspended', async () => {
    const { sent, pass, standStill, silences } = watching();
    const first = sent();
    const second = sent();
    await standStill(60);
    first(true);
    second(true);
    sent();
    await pass(1);
    expect(silences).toEqual([]);
  });

  it('is called silent only after twice the time of its slowest answer', async () => {
    const { sent, pass, silences, witnesses } = watching();
    const slow = sent();
    await pass(2.5);
    slow(true);
    witnesses[0]!(true);
    for (let n = 0; n < 3; n += 1) sent();
    await pass(6.5);
    expect([silences, witnesses.length]).toEqual([[], 2]);
    await pass(0.5);
    expect(silences).toHaveLength(1);
  });

  it('is called silent at most once if all its answers become slow, however long that lasts', async () => {
    const { known, sent, pass, silences, witnesses } = watching();
    let answered = 0;
    for (let n = 0; n < 300; n += 1) {
      const [one, other] = [sent(), sent()];
      await pass(6);
      one(true);
      other(true);
      for (const answer of witnesses.slice(answered)) answer(true);
      answered = witnesses.length;
      known.isDown = false;
    }
    expect(silences).toHaveLength(1);
  });

  it('is called silent after 3 s again once its last slow answer is 20 min ago', async () => {
    const { sent, pass, silences, witnesses } = watching();
    const slow = sent();
    await pass(2.5);
    slow(true);
    witnesses[0]!(true);
    await pass(1200);
    sent();
    await pass(3);
    expect(silences).toHaveLength(1);
  });
});

describe('a service after failed requests', () => {
  it('is checked every second until it is judged, at most five times', async () => {
    const { known, pass, sent, witnesses } = watching();
    sent()(false);
    known.isSuspected = true;
    for (let n = 0; n < 30; n += 1) {
      await pass(1);
      witnesses.at(-1)?.(false);
      if (n === 4) expect(witnesses).toHaveLength(5);
    }
    expect(witnesses).toHaveLength(5);
  });
});
