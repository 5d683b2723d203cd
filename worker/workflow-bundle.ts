import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { packageRoot } from '../base/package-root.js';

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
  await writeFile(workflowBundlePath(), inOneByte(code));
}

/**
 * A single dash in a comment makes V8 keep all of a text with two bytes a character, here in each of two threads.
 * What is escaped means the same in a string; elsewhere the bundle has such characters in comments alone.
 */
function inOneByte(code: string): string {
  return code.replace(/[^\x00-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
