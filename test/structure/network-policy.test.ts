import { lookup } from 'node:dns';
import { Secret } from '../../config/secret.js';
import { allSinks } from '../../sinks/all-sinks.js';
import type { SinkType } from '../../sinks/sink.js';
import { minimalSinks } from '../kit/minimal-sinks.js';
import { environmentOf } from '../../sinks/sink-environment.test-kit.js';

jest.mock('node:dns', () => ({ ...jest.requireActual('node:dns'), lookup: jest.fn() }));

/** Connect to no HTTP address: a folder, and a database, which may be anywhere (docs/sinks.md). */
const withoutPolicy = ['file', 'postgres'];

const connecting = [...allSinks].filter(([type]) => !withoutPolicy.includes(type)).map(([, sinkType]) => sinkType);

const addressKeys = connecting.flatMap((sinkType) => {
  const { addressKeys: keys } = minimalSinks[sinkType.type]!;
  return keys.map((key) => [`${sinkType.type}, "${key}"`, sinkType, key] as const);
});

/** The check lines of a sink whose address is on a private network, whatever else its keys are. */
async function check(sinkType: SinkType, keys: Keys): Promise<string> {
  const config = sinkType.configSchema.parse(keys);
  const sink = sinkType.create(config, environmentOf('sink'));
  try {
    return (await sink.check(new AbortController().signal)).map(({ text }) => text).join('\n');
  } finally {
    await sink.close();
  }
}

function keysOf(sinkType: SinkType, key: string, address: string): Keys {
  const { keys, secretAddresses = [], instead = {} } = minimalSinks[sinkType.type]!;
  const value = secretAddresses.includes(key) ? new Secret(address) : address;
  return withKey({ ...keys, ...instead[key] }, key.split('.'), value);
}

type Keys = Readonly<Record<string, unknown>>;

function withKey(keys: Keys, [name, ...rest]: readonly string[], value: unknown): Keys {
  return { ...keys, [name!]: rest.length === 0 ? value : withKey(keys[name!] as Keys, rest, value) };
}

beforeEach(() => {
  // Every name resolves to an address of a private network in which nothing answers: this machine, at a closed port.
  (lookup as unknown as jest.Mock).mockImplementation((_name, _options, callback) =>
    callback(null, [{ address: '127.0.0.1', family: 4 }]),
  );
});

describe('the network policy', () => {
  it('is known for every sink type', () => {
    expect(Object.keys(minimalSinks).sort()).toEqual(connecting.map(({ type }) => type).sort());
  });

  it.each(addressKeys)(
    'refuses a private address, and accepts it after the advice is followed: %s',
    async (_, sinkType, key) => {
      const keys = keysOf(sinkType, key, 'https://private.example:1/path');
      const refusal = await check(sinkType, keys);
      const advised = /private\.example has no public address: set "(\w+): true"/.exec(refusal)?.[1];
      expect([refusal, advised]).toEqual([refusal, 'allowPrivateAddresses']);
      // Connecting to the closed port shows that the setting is honoured.
      expect(await check(sinkType, { ...keys, [advised!]: true })).toContain(
        'private.example:1 refused the connection',
      );
    },
  );

  it.each(addressKeys)('accepts http on a private network only with the setting: %s', async (_, sinkType, key) => {
    const keys = keysOf(sinkType, key, 'http://private.example:1/path');
    const problems = sinkType.configSchema.safeParse(keys).error?.issues.map(({ path, message }) => [path, message]);
    expect(problems).toEqual([
      [key.split('.'), expect.stringContaining('together with "allowPrivateAddresses: true"')],
    ]);
    expect(await check(sinkType, { ...keys, allowPrivateAddresses: true })).toContain(
      'private.example:1 refused the connection',
    );
  });

  it.each(addressKeys)('never sends plain http to a public address: %s', async (_, sinkType, key) => {
    const keys = { ...keysOf(sinkType, key, 'http://8.8.8.8:1/path'), allowPrivateAddresses: true };
    expect(await check(sinkType, keys)).toContain(
      '8.8.8.8 has a public address, which pigeonpost reaches over https only',
    );
  });
});
