import {
  deliverToSinkId,
  discoverPigeonholesId,
  forgetAttendeeId,
  importRegistrantsId,
  readPigeonholesId,
} from './ids.js';

describe('ids of workflows', () => {
  it('are unique across workflows for any names', () => {
    const names = ['acme', 'sync/acme', 'import', 'a/1', 'deliver/a', '%2F', ''];
    const ids = names.flatMap((name) => [
      discoverPigeonholesId(name),
      deliverToSinkId(name),
      forgetAttendeeId(name),
      importRegistrantsId(name),
    ]);
    ids.push(...[0, 1, 11].map(readPigeonholesId));
    expect(new Set(ids).size).toBe(4 * names.length + 3);
  });
});
