import type { ISignOff } from '../api/answers';
import { asRefusal } from '../api/connection';
import type { Api } from '../api/vaibify';

/** Which plot of which step. */
export interface IPlot {
  readonly project: string;
  readonly step: string;
  readonly path: string;
}

/** One version of a plot: where its bytes are to be had, or why they are not. */
export type Side =
  | { readonly sha256: string; readonly source: string; readonly data: Blob }
  | { readonly refused: string };

/** A plot as it is, and as it was signed. */
export interface ISides {
  readonly now: Side;
  readonly signed: Side;
  /** The step's last sign-off. */
  readonly word: ISignOff | null;
}

/** Ask for both. */
export async function sides(api: Api, plot: IPlot): Promise<ISides> {
  const [now, signed, word] = await Promise.all([
    side(api, plot, 'now'),
    side(api, plot, 'signed'),
    lastWord(api, plot)
  ]);
  return { now, signed, word };
}

/** Whether the bytes are those that were signed; null where nobody can know. */
export function isAsSigned({ now, signed, word }: ISides, path: string): boolean | null {
  const hash = 'sha256' in signed ? signed.sha256 : word?.hashes[path];
  return hash && 'sha256' in now ? hash === now.sha256 : null;
}

async function side(api: Api, plot: IPlot, version: 'now' | 'signed'): Promise<Side> {
  const { project, step, path } = plot;
  try {
    const { data, sha256 } = await api.plotBytes(project, step, path, version);
    return { data, sha256, source: api.plot(project, step, path, sha256, version) };
  } catch (error) {
    const { where, text, action } = asRefusal(error);
    const said = where ? `${where}: ${text}` : text;
    return { refused: action ? `${said}\n${action}` : said };
  }
}

async function lastWord(api: Api, plot: IPlot): Promise<ISignOff | null> {
  try {
    const { sign_offs: all } = await api.signOffs(plot.project, plot.step);
    return all[all.length - 1] ?? null;
  } catch {
    return null; // the versions themselves say what is wrong
  }
}
