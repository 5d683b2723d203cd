import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const deploy = join(__dirname, '../../deploy');

function promtool(...args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: deploy, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

/** With CI=true, a missing promtool is a failure, so that the tests are not skipped unnoticed. */
function hasPromtool(): boolean {
  if (promtool('--version').status === 0) return true;
  if (process.env['CI'] === 'true') throw new Error('promtool is not installed, and CI=true wants its tests run');
  process.stderr.write('promtool is not installed (Debian: prometheus): its tests of deploy/alerts.yml are left out\n');
  return false;
}

// test/scenarios/alert-rules.test.ts evaluates the same rules on what /metrics prints; Prometheus itself does it here.
(hasPromtool() ? describe : describe.skip)('Prometheus', () => {
  it('accepts the shipped rules', () => {
    expect(promtool('check', 'rules', 'alerts.yml')).toMatchObject({ status: 0 });
  });

  it('fires them for a fleet as deploy/alerts.test.yml says', () => {
    const { status, output } = promtool('test', 'rules', 'alerts.test.yml');
    expect(output).toMatch(/SUCCESS/);
    expect(status).toBe(0);
  });
});
