/** What is written beside a file that was imported, or could not be. */
export const reportEnding = '.report.csv';
export const errorEnding = '.error.txt';

/** What programs leave while they write, and hidden files. Excel's lock begins with `~$`, LibreOffice's with `.~lock`. */
const unfinished = /^(?:\.|~)|~$|\.(?:tmp|part|partial|crdownload|filepart|download|swp|bak)$/i;

/** Whether a file in a drop folder is somebody's list, by its name: not what this program or another one left there. Pure. */
export function isDroppedName(name: string): boolean {
  return !name.endsWith(reportEnding) && !name.endsWith(errorEnding) && !unfinished.test(name);
}
