import { allSinks } from '../sinks/all-sinks.js';
import { example, exampleEnvironment, exampleFiles } from './example.test-kit.js';
import { errorOf } from './load-text.test-kit.js';

const sinkSchemas = Object.fromEntries([...allSinks].map(([type, { configSchema }]) => [type, configSchema]));

describe('the example of the whole contract', () => {
  it('is refused for parts that this version lacks, and for nothing else', async () => {
    const problems = (await errorOf(example, exampleEnvironment, exampleFiles, sinkSchemas))?.problems ?? [];
    expect(problems.map(({ line, key }) => `${line}: ${key}`)).toEqual([]);
    for (const { message } of problems) expect(message).toContain('not available in this version');
  });

  it('tells every missing variable besides', async () => {
    const problems = (await errorOf(example, {}, exampleFiles, sinkSchemas))?.problems ?? [];
    const missing = problems.flatMap(
      ({ message }) => /^the environment variable (\w+) is not set/.exec(message)?.[1] ?? [],
    );
    expect(missing).toEqual(Object.keys(exampleEnvironment));
  });
});
