import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasPromtool, promtool } from '../kit/prometheus-day.js';

const deploy = join(__dirname, '../../deploy');

// test/scenarios/alert-rules.test.ts lets Prometheus evaluate the same rules on what /metrics prints.
(hasPromtool() ? describe : describe.skip)('Prometheus', () => {
  it('accepts the shipped rules', () => {
    expect(promtool('check', 'rules', join(deploy, 'alerts.yml'))).toMatchObject({ status: 0 });
  });

  it('fires them for a fleet as deploy/alerts.test.yml says', () => {
    const { status, output } = promtool('test', 'rules', join(deploy, 'alerts.test.yml'));
    expect(output).toMatch(/SUCCESS/);
    expect(status).toBe(0);
  });
});

describe('each shipped rule', () => {
  const names = [...readFileSync(join(deploy, 'alerts.yml'), 'utf8').matchAll(/- alert: (\w+)/g)].map(
    ([, name]) => name!,
  );

  it.each(names)('is tried by a test: %s', (name) => {
    const tests = [join(deploy, 'alerts.test.yml'), join(__dirname, '../scenarios/alert-rules.test.ts')];
    expect(tests.some((file) => readFileSync(file, 'utf8').includes(name))).toBe(true);
  });
});
