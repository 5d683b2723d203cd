import {
  deliverToSinkId,
  discoverPigeonholesId,
  forgetAttendeeId,
  importRegistrantsId,
  syncPigeonholeId,
} from './ids.js';

describe('ids of workflows', () => {
  it('are unique across workflows for any names', () => {
    const names = ['acme', 'sync/acme', 'import', 'a/1', 'deliver/a', '%2F', ''];
    const ids = names.flatMap((name) => [
      discoverPigeonholesId(name),
      deliverToSinkId(name),
      forgetAttendeeId(name),
      importRegistrantsId(name),
      syncPigeonholeId(name, 1),
    ]);
    expect(new Set(ids).size).toBe(5 * names.length);
  });
});
