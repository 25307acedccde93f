import type { Contents } from '@jupyterlab/services';
import type { IProject } from '../api/answers';

/** The drives of the server's own files; collaboration gives them one of its own. */
const DRIVES = ['', 'RTC'];

/** A file's path without its drive; null where it is of another than the server's. */
export function onServer(contents: Contents.IManager, path: string): string | null {
  return DRIVES.includes(contents.driveName(path)) ? contents.localPath(path) : null;
}

/** The project that a file lies in: the innermost; of several there, the one that is open. */
export function projectOf(
  path: string,
  projects: readonly IProject[],
  open: IProject | null
): IProject | null {
  const around = projects.filter(
    one => !one.contents || path === one.contents || path.startsWith(`${one.contents}/`)
  );
  const depth = Math.max(...around.map(one => one.contents.length));
  const innermost = around.filter(one => one.contents.length === depth);
  return innermost.find(one => one.id === open?.id) ?? innermost[0] ?? null;
}
