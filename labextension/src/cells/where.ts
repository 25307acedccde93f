import type { IProject } from '../api/answers';

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
