import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const main = join(__dirname, '../dist/cli/main.js');

describe('the command line', () => {
  it('goes on checking certificates where another tool has switched that off, and says so', () => {
    const run = (environment: NodeJS.ProcessEnv) =>
      spawnSync(process.execPath, [main, '--version'], { encoding: 'utf8', env: { ...process.env, ...environment } });
    expect(run({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/^pigeonpost: NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: .*\n$/),
    });
    expect(run({ NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toMatchObject({ status: 0, stderr: '' });
  });
});
