import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { packageRoot } from '../base/package-root.js';

/**
 * Returns the path of the workflow code that every worker loads. The build creates it, because bundling takes seconds.
 */
export function workflowBundlePath(): string {
  return join(packageRoot(), 'dist/workflow-bundle.js');
}

/**
 * Bundles the built workflows. The build calls it after the compiler.
 * @throws if a workflow imports a module that it must not import
 */
export async function writeWorkflowBundle(): Promise<void> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(packageRoot(), 'dist/workflows/all-workflows.js'),
    logger: new DefaultLogger('WARN'), // its info lines are statistics of webpack
    // Stack traces need the source map, but not the sources in it, which are two thirds of a file that two threads keep
    // in memory.
    webpackConfigHook: (config) => ({ ...config, devtool: 'inline-nosources-source-map' }),
  });
  await writeFile(workflowBundlePath(), inOneByte(code));
}

/**
 * Escapes characters beyond Latin-1. A single one, such as a dash in a comment, makes V8 store the whole text with two
 * bytes per character in each of two threads. Outside strings, the bundle has such characters only in comments.
 */
function inOneByte(code: string): string {
  return code.replace(/[^\x00-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
