import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { packageRoot } from './package-root.js';

/**
 * The one file of workflow code that every worker loads. Made by the build, because bundling takes seconds and a
 * start has none to spare.
 */
export function workflowBundlePath(): string {
  return join(packageRoot(), 'dist/workflow-bundle.js');
}

/** Bundles the built workflows. Called by the build, after the compiler. @throws when a workflow imports what it must not */
export async function writeWorkflowBundle(): Promise<void> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(packageRoot(), 'dist/workflows/all-workflows.js'),
    logger: new DefaultLogger('WARN'), // its usual lines are statistics of webpack
    // Lines of a stack trace need the map, and not the sources in it: two thirds of a file that two threads keep.
    webpackConfigHook: (config) => ({ ...config, devtool: 'inline-nosources-source-map' }),
  });
  await writeFile(workflowBundlePath(), code);
}
