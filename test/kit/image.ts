import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const root = resolve(__dirname, '../..');

/** Returns the instructions of a stage of the Dockerfile, each in one line. */
function stage(name: 'build' | 'final'): string[] {
  const lines = readFileSync(join(root, 'Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  const starts = lines.flatMap((line, at) => (line.startsWith('FROM ') ? [at] : []));
  return name === 'build' ? lines.slice(starts[0]! + 1, starts[1]) : lines.slice(starts[1]! + 1);
}

/** Whether Docker sends a file to a build: the last matching pattern of .dockerignore decides. */
export function isInContext(path: string): boolean {
  const lines = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .reduce((kept, line) => {
      const pattern = line.replace(/^!/, '').replaceAll(/[.+^$()|[\]\\]/g, '\\$&');
      const form = pattern.replace(/^\*\*\//, '(?:.*/)?').replaceAll(/\*(?!\/?\))/g, '[^/]*');
      return new RegExp(`^${form}(?:/|$)`).test(path) ? line.startsWith('!') : kept;
    }, true);
}

/**
 * Simulates `docker build` without a container engine: copies the files that .dockerignore allows to `folder`/build,
 * runs the steps of the build stage there, and copies the files of the last stage to `folder`/app. Uses hard links to
 * the packages of this checkout instead of `npm ci`.
 * @returns the folder that is /app in the image
 */
export function buildImage(folder: string): string {
  const build = join(folder, 'build');
  copyContext(build);
  for (const line of stage('build').filter((each) => each.startsWith('RUN '))) {
    if (line.startsWith('RUN npm ci ')) linkPackages(build);
    else runStep(line.slice('RUN '.length), build);
  }
  const app = join(folder, 'app');
  mkdirSync(app);
  for (const line of stage('final')) {
    const [, from, to] = /^COPY --from=build \/app\/(\S+) (\S+)$/.exec(line) ?? [];
    if (from !== undefined) execFileSync('cp', ['-al', join(build, from), join(app, to!)]);
  }
  return app;
}

function copyContext(into: string): void {
  const never = new Set(['node_modules', '.git', 'dist']); // excluded here, because checking 40,000 files against .dockerignore takes too long
  const copy = (path: string): void => {
    for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory() && !never.has(entry.name)) copy(inner);
      else if (entry.isFile() && isInContext(inner)) {
        mkdirSync(dirname(join(into, inner)), { recursive: true });
        cpSync(join(root, inner), join(into, inner));
      }
    }
  };
  copy('');
}

function linkPackages(build: string): void {
  const link = (flags: string) => spawnSync('cp', [flags, join(root, 'node_modules'), join(build, 'node_modules')]);
  if (link('-al').status !== 0) link('-a'); // the temporary folder is on another disk
}

function runStep(command: string, cwd: string): void {
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', command], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`"${command}" ended with ${status}:\n${stdout}\n${stderr}`);
}
