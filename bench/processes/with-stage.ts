import { Stage } from './stage.js';

/** Opens a stage for `use` and takes it down behind it, also when it fails. */
export async function withStage<T>(sandboxArgs: readonly string[], use: (stage: Stage) => Promise<T>): Promise<T> {
  const stage = await Stage.open(sandboxArgs);
  try {
    return await use(stage);
  } finally {
    await stage.close();
  }
}
