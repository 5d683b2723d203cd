import { isPublicAddress } from './guarded-connector.js';

describe('a public address', () => {
  it.each(['1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.0'])(
    'is %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  it.each(['192.0.1.0', '198.17.255.255', '198.20.0.0', '223.255.255.255', '2606:4700::1111', '2a00:1450::1'])(
    'is %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  it.each([
    ['unspecified', '0.0.0.0'],
    ['private', '10.255.0.1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['carrier-grade NAT', '100.127.255.255'],
    ['loopback', '127.0.0.53'],
    ['the metadata service', '169.254.169.254'],
    ['private', '172.31.255.255'],
    ['protocol assignments', '192.0.0.8'],
    ['private', '192.168.178.1'],
    ['benchmarking', '198.19.255.255'],
    ['multicast', '224.0.0.1'],
    ['class E', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['v4-mapped loopback', '::ffff:127.0.0.1'],
    ['v4-mapped, in hex', '::ffff:7f00:1'],
    ['v4-mapped, though public', '::ffff:1.1.1.1'],
    ['v4-compatible', '::127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['local NAT64', '64:ff9b:1::1'],
    ['discard-only', '100::1'],
    ['Teredo', '2001:0:1::1'],
    ['documentation', '2001:db8::1'],
    ['6to4', '2002:7f00:1::1'],
    ['unique local', 'fd12:3456::1'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['public with a zone', '2606:4700::1111%1'],
    ['multicast', 'ff02::1'],
    ['no address', 'example.com'],
    ['empty', ''],
  ])('is not one that is %s: %s', (_, address) => expect(isPublicAddress(address)).toBe(false));
});
