import { allSinks } from '../sinks/all-sinks.js';
import { example, exampleEnvironment, exampleFiles } from './example.test-kit.js';
import { errorOf } from './load-text.test-kit.js';

const sinkSchemas = Object.fromEntries([...allSinks].map(([type, { configSchema }]) => [type, configSchema]));

describe('the example of the complete contract', () => {
  it('is accepted', async () => {
    expect(await errorOf(example, exampleEnvironment, exampleFiles, sinkSchemas)).toBeUndefined();
  });

  it('reports every missing variable', async () => {
    const problems = (await errorOf(example, {}, exampleFiles, sinkSchemas))?.problems ?? [];
    const missing = problems.flatMap(
      ({ message }) => /^the environment variable (\w+) is not set/.exec(message)?.[1] ?? [],
    );
    expect(missing).toEqual(Object.keys(exampleEnvironment));
  });
});
