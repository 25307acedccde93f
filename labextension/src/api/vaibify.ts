import { URLExt } from '@jupyterlab/coreutils';
import type { ServerConnection } from '@jupyterlab/services';
import type * as answers from './answers';
import type { ICell, ICells, INewStep, IPlainCell } from './cells';
import { ask, askBytes, NAMESPACE, type Answer } from './connection';

/** Which version of a plot. */
export type Version = 'now' | 'signed';

/** The addresses of the server extension, one method each. */
export class Api {
  constructor(readonly settings: ServerConnection.ISettings) {}

  projects(contents?: string): Promise<answers.IProjects> {
    const query = contents === undefined ? '' : URLExt.objectToQueryString({ contents });
    return this.get(`projects${query}`);
  }

  init(contents: string): Promise<{ projects: string[]; written: string[] }> {
    return this.post('init', { contents });
  }

  /** What is true now, unless nothing changed since the answer with this tag. */
  status(project: string, tag: string | null): Promise<Answer<answers.IFileStatus>> {
    const headers: HeadersInit = tag ? { 'If-None-Match': tag } : {};
    return ask(this.settings, of(project, 'file-status'), { headers });
  }

  step(project: string, slug: string): Promise<answers.IStepDetail> {
    return this.get(of(project, 'steps', slug));
  }

  runs(project: string): Promise<{ runs: answers.IRunEntry[]; current: string | null }> {
    return this.get(of(project, 'runs'));
  }

  startRun(project: string, asked: answers.IRunAsked): Promise<{ run_id: string }> {
    return this.post(of(project, 'runs'), asked);
  }

  stopRun(project: string, run: string): Promise<unknown> {
    return this.delete(of(project, 'runs', run));
  }

  acknowledge(project: string, steps?: string[]): Promise<unknown> {
    return this.post(of(project, 'acknowledge'), { steps });
  }

  /** Tell the runner what a person wants of a step that waits. */
  speak(
    project: string,
    slug: string,
    word: 'pause' | 'resume' | 'complete' | 'abandon'
  ): Promise<unknown> {
    const isEnd = word === 'complete' || word === 'abandon';
    const body = isEnd ? { abandon: word === 'abandon' } : {};
    return this.post(of(project, 'steps', slug, isEnd ? 'complete' : word), body);
  }

  /** A terminal of the server's, inside a step that waits. */
  openTerminal(project: string, slug: string): Promise<{ name: string }> {
    return this.post(of(project, 'steps', slug, 'terminals'), {});
  }

  pins(project: string, slug: string): Promise<answers.IPins> {
    return this.get(of(project, 'steps', slug, 'pins'));
  }

  /** The address of the picture of what a step comes from, as a download. */
  lineage(project: string, slug: string): string {
    const place = of(project, 'steps', slug, 'provenance');
    const query = URLExt.objectToQueryString({ format: 'svg' });
    return URLExt.join(this.settings.baseUrl, NAMESPACE, place) + query;
  }

  signOffs(project: string, slug: string): Promise<answers.ISignOffs> {
    return this.get(of(project, 'steps', slug, 'sign-offs'));
  }

  signOff(
    project: string,
    slug: string,
    word: {
      verdict: string;
      run_id: string;
      hashes: Record<string, string>;
      by: string;
      note: string;
    }
  ): Promise<{ sign_off: answers.ISignOff; envelope_fault: answers.IFault | null }> {
    return this.post(of(project, 'steps', slug, 'sign-offs'), word);
  }

  envelope(project: string): Promise<answers.IEnvelope> {
    return this.get(of(project, 'envelope'));
  }

  writeEnvelope(project: string): Promise<{ job: string }> {
    return this.post(of(project, 'envelope'), {});
  }

  verifySteps(project: string): Promise<{ job: string }> {
    return this.post(of(project, 'verify'), {});
  }

  verifyManifest(project: string): Promise<{ job: string }> {
    return this.post(of(project, 'manifest', 'verify'), {});
  }

  image(project: string): Promise<answers.IImage> {
    return this.get(of(project, 'image'));
  }

  build(project: string): Promise<{ job: string }> {
    return this.post(of(project, 'image'), {});
  }

  /** The reproductions and reruns that this server knows of, oldest first. */
  jobs(project: string, kind: 'reproductions' | 'reruns'): Promise<{ jobs: answers.IJob[] }> {
    return this.get(of(project, kind));
  }

  reproduce(project: string, skip: number[]): Promise<{ job: string }> {
    return this.post(of(project, 'reproductions'), { skip });
  }

  rerun(project: string, steps: string[]): Promise<{ job: string }> {
    return this.post(of(project, 'reruns'), { steps });
  }

  /** What a review would be about now, and whose it would be. */
  reviewing(project: string): Promise<{ about: answers.IAbout; name: string | null }> {
    return this.get(of(project, 'reviews'));
  }

  review(project: string, word: answers.IReviewWord): Promise<answers.IReview> {
    return this.post(of(project, 'reviews'), word);
  }

  /** How the step cells among those of an editor stand; nothing is recorded. */
  cells(project: string, asked: ICells): Promise<{ cells: ICell[] }> {
    return this.post(of(project, 'cells'), asked);
  }

  /** The step that a cell could be; null for what is no plain code. */
  proposeStep(project: string, cell: IPlainCell): Promise<{ proposal: INewStep | null }> {
    return this.post(of(project, 'cells', 'proposal'), cell);
  }

  /** Write plain code down as a new step; the line is what its cell is to begin with. */
  makeStep(project: string, source: string, step: INewStep): Promise<{ line: string }> {
    const { name, directory, inputs, data, plots } = step;
    const body = JSON.stringify({ source, step: { name, directory, inputs, data, plots } });
    return this.get(of(project, 'cells'), { method: 'PUT', body });
  }

  /** Write a cell down: its script, and its step in the workflow. */
  declareCell(project: string, source: string): Promise<{ slug: string; changes: string[] }> {
    return this.get(of(project, 'cells'), { method: 'PUT', body: JSON.stringify({ source }) });
  }

  cancelJob(project: string, job: string): Promise<unknown> {
    return this.delete(of(project, 'jobs', job));
  }

  job(project: string, job: string): Promise<answers.IJob> {
    return this.get(of(project, 'jobs', job));
  }

  /** The address of a plot's bytes: those of that hash, or none. */
  plot(
    project: string,
    slug: string,
    path: string,
    sha256: string,
    version: Version = 'now'
  ): string {
    const place = of(project, 'steps', slug, 'plots', ...path.split('/'));
    const query = URLExt.objectToQueryString({ version, bytes: sha256 });
    return URLExt.join(this.settings.baseUrl, NAMESPACE, place) + query;
  }

  /** A plot's bytes, as they are or as they were signed. */
  plotBytes(
    project: string,
    slug: string,
    path: string,
    version: Version
  ): Promise<{ data: Blob; sha256: string }> {
    const place = of(project, 'steps', slug, 'plots', ...path.split('/'));
    return askBytes(this.settings, place + URLExt.objectToQueryString({ version }));
  }

  /** The address of a whole log, as a download. */
  log(project: string, run: string, slug: string, log: string): string {
    const place = of(project, 'runs', run, 'logs', slug, ...log.split('/'));
    return URLExt.join(this.settings.baseUrl, NAMESPACE, place);
  }

  private async get<T>(path: string, init: RequestInit = {}): Promise<T> {
    const answer = await ask<T>(this.settings, path, init);
    return (answer as { value: T }).value;
  }

  private post<T>(path: string, body: unknown): Promise<T> {
    return this.get(path, { method: 'POST', body: JSON.stringify(body) });
  }

  private delete<T>(path: string): Promise<T> {
    return this.get(path, { method: 'DELETE' });
  }
}

/** The journal of a run or a job: lines now, and a websocket at the same address. */
export function journalPath(project: string, kind: 'runs' | 'jobs', name: string): string {
  return of(project, kind, name, 'journal');
}

function of(project: string, ...parts: string[]): string {
  return ['projects', project, ...parts].map(encodeURIComponent).join('/');
}
