import { lrsProtocol } from './lrs-protocol.test-kit.js';
import { INSTALL_REAL_LRS, isRealLrsInstalled, startRealLrs, type RealLrs } from './real-lrs.test-kit.js';

if (isRealLrsInstalled) {
  let lrs: RealLrs;
  beforeAll(async () => {
    lrs = await startRealLrs();
  });
  afterAll(async () => {
    await lrs.stop();
  });

  lrsProtocol('a real LRS', () => lrs.target);
} else {
  describe('a real LRS', () => {
    it.skip(`is not installed next to the project: ${INSTALL_REAL_LRS}`, () => undefined);
  });
}
