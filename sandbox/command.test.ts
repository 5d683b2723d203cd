import { parse, runSandboxCommand, sandboxOptions } from './command.js';
import { DEFAULTS } from './start-sandbox.js';

describe('the sandbox command', () => {
  it('uses the defaults that its help shows', () => {
    expect(parse([])).toMatchObject({
      port: DEFAULTS.port,
      seed: DEFAULTS.seed,
      attendees: DEFAULTS.attendees,
      order: 'ascending',
      registrants: true,
    });
    const flags = sandboxOptions.map(({ flag }) => flag.split(' ')[0]);
    expect(new Set(flags).size).toBe(sandboxOptions.length);
  });

  it('reads every kind of flag', () => {
    const argv = [
      '--port 8099 --seed 7 --attendees 10 --rate 0.5 --frozen --order unordered',
      '--cursor offset --workspace-kind team --api-key a --api-key b --quota 100/60',
      '--fault kind=text503,next=1 --fault kind=delay,ms=5 --registrants off',
      '--now 2026-11-21T09:00:00Z --latency-ms 20',
    ].flatMap((line) => line.split(' '));
    expect(parse(argv)).toMatchObject({
      port: 8099,
      seed: 7,
      attendees: 10,
      rate: 0.5,
      frozen: true,
      order: 'unordered',
      cursor: 'offset',
      workspaceKind: 'team',
      apiKeys: ['a', 'b'],
      quota: { limit: 100, windowSeconds: 60 },
      faults: [
        { kind: 'text503', next: 1 },
        { kind: 'delay', ms: 5 },
      ],
      registrants: false,
      nowMs: Date.parse('2026-11-21T09:00:00Z'),
      latencyMs: 20,
    });
  });

  it.each([
    [['--order', 'sideways'], 'order'],
    [['--attendees', 'many'], 'attendees'],
    [['--quota', '5'], 'quota'],
    [['--fault', 'kind=earthquake'], 'fault'],
    [['--unknown'], 'unknown'],
  ])('refuses %j', (argv, named) => {
    const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    expect(() => parse(argv)).toThrow(named);
    stderr.mockRestore();
  });

  it('prints every flag with --help, and starts nothing', async () => {
    const printed: string[] = [];
    const stdout = jest.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
    await runSandboxCommand(['--help']);
    stdout.mockRestore();
    expect(printed.join('')).toMatch(/^Usage: pigeonpost sandbox \[options\]$/m);
    expect(printed.join('')).toContain('help for a command');
    expect(printed.join('').match(/keyset/g)).toHaveLength(2); // the choices and the default
    for (const { flag } of sandboxOptions) expect(printed.join('')).toContain(flag);
  });

  it('prints one line with its address, serves requests there, and stops on SIGTERM', async () => {
    const printed: string[] = [];
    const stdout = jest.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
    const ended = runSandboxCommand(['--attendees', '5', '--frozen']);
    while (printed.length === 0) await new Promise(setImmediate);
    stdout.mockRestore();
    const [, baseUrl] = /^sandbox ready on (http:\/\/127\.0\.0\.1:\d+) \(.*\)\n$/.exec(printed.join('')) ?? [];
    expect((await fetch(`${baseUrl}/v2/pigeonholes`)).status).toBe(401);
    process.emit('SIGTERM');
    await ended;
    await expect(fetch(`${baseUrl}/v2/pigeonholes`)).rejects.toThrow('fetch failed');
  });
});
