import { lrsProtocol } from './lrs-protocol.test-kit.js';
import { DEFAULT_ACCOUNT, startLrsDouble, type LrsDouble } from './start-lrs-double.js';

let double: LrsDouble;
beforeAll(async () => {
  // The same tests also run against a real LRS, which has this version.
  double = await startLrsDouble({ onViolation: 'record', versions: ['1.0.3'] });
});
afterAll(async () => {
  await double.close();
});

lrsProtocol('the LRS double', () => ({ endpoint: double.endpoint, ...DEFAULT_ACCOUNT }));
