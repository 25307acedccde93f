import type { IFault, IJournalLine } from '../api/answers';
import { Journal } from '../api/journal';
import { journalPath, type Api } from '../api/vaibify';
import { Store } from './store';

/** What takes long and is no run: a build, writing or checking the envelope. */
export interface IShownJob {
  readonly project: string;
  readonly job: string;
  readonly state: 'running' | 'done' | 'failed' | 'cancelled';
  /** The newest line that says something. */
  readonly text: string;
  readonly result: unknown;
  readonly error: IFault | null;
}

const ENDS = new Map<string, IShownJob['state']>([
  ['jobDone', 'done'],
  ['jobFailed', 'failed'],
  ['jobCancelled', 'cancelled']
]);

/** The newest job of each kind that was started here. */
export class Jobs {
  readonly all = new Store<ReadonlyMap<string, IShownJob>>(new Map());

  constructor(private readonly api: Api) {}

  /** Follow a job that was started; resolves with its last state. */
  follow(kind: string, project: string, job: string): Promise<IShownJob> {
    this.put(kind, { project, job, state: 'running', text: '', result: null, error: null });
    return new Promise(resolve => {
      this.journals.get(kind)?.dispose();
      const journal = new Journal(this.api.settings, journalPath(project, 'jobs', job), {
        connected: () => undefined,
        line: line => {
          const shown = this.take(kind, line);
          if (shown && shown.state !== 'running') {
            resolve(shown);
          }
        }
      });
      this.journals.set(kind, journal);
    });
  }

  clear(): void {
    this.journals.forEach(journal => journal.dispose());
    this.journals.clear();
    this.all.set(new Map());
  }

  private take(kind: string, line: IJournalLine): IShownJob | null {
    const shown = this.all.value.get(kind);
    if (!shown) {
      return null;
    }
    const state = ENDS.get(line.event) ?? 'running';
    const text = textOf(line) || shown.text;
    const error = (line.error as IFault | undefined) ?? null;
    return this.put(kind, { ...shown, state, text, error, result: line.result ?? null });
  }

  private put(kind: string, shown: IShownJob): IShownJob {
    this.all.set(new Map(this.all.value).set(kind, shown));
    return shown;
  }

  private readonly journals = new Map<string, Journal>();
}

/** What a line says, or the run's line within it, or how many files are read. */
function textOf(line: IJournalLine): string {
  const inner = line.line as IJournalLine | undefined;
  const count = line.event === 'tierProgress' ? `${line.done} / ${line.listed}` : '';
  return line.text || inner?.text || count;
}
