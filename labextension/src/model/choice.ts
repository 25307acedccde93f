import type { IProject, IProjects } from '../api/answers';

/**
 * The project to show: the one that is open while it is there, else the one of last time, else that
 * of the folder that is open, else the first.
 */
export function chosen(
  found: IProjects,
  open: string | null,
  remembered: string | null
): IProject | null {
  const at = (id: string | null | undefined): IProject | undefined =>
    found.projects.find(project => project.id === id);
  return at(open) ?? at(remembered) ?? at(found.here?.projects[0]) ?? found.projects[0] ?? null;
}
