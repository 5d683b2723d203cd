import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const deploy = join(__dirname, '../../deploy');

/** Returns every metric in the dashboard and the rules of deploy/, each once, with its name in `# TYPE`. */
export function namedMetrics(): string[] {
  const text = ['grafana/pigeonpost.json', 'alerts.yml']
    .map((file) => readFileSync(join(deploy, file), 'utf8'))
    .join('\n');
  const found = [...text.matchAll(/\b(?:pigeonpost|temporal|process|nodejs)_[a-z_]+(?=[{[\s),])/g)].map(
    ([name]) => name,
  );
  return [...new Set(found.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')))].toSorted();
}
