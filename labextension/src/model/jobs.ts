import type { IFault, IJournalLine } from '../api/answers';
import { asRefusal } from '../api/connection';
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
  /** The newest lines. */
  readonly lines: readonly string[];
  /** Which part of a build, of how many; 0 before it is known. */
  readonly part: readonly [number, number];
  readonly result: unknown;
  readonly error: IFault | null;
}

const MOST_LINES = 300;
const FRESH = {
  state: 'running',
  text: '',
  lines: [],
  part: [0, 0],
  result: null,
  error: null
} as const;

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
    this.put(kind, { ...FRESH, project, job });
    return new Promise(resolve => {
      this.ends.set(kind, resolve);
      this.journals.get(kind)?.dispose();
      const journal = new Journal(this.api.settings, journalPath(project, 'jobs', job), {
        connected: open => void (open || this.check(kind, job)),
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
    const lines = line.text ? [...shown.lines.slice(1 - MOST_LINES), line.text] : shown.lines;
    const part = line.steps ? ([Number(line.step), Number(line.steps)] as const) : shown.part;
    const result = line.result ?? null;
    return this.put(kind, { ...shown, state, text, lines, part, error, result });
  }

  /** A server that was restarted has ended its jobs, and knows them no more. */
  private async check(kind: string, job: string): Promise<void> {
    const shown = this.all.value.get(kind);
    if (shown?.job !== job || shown.state !== 'running') {
      return;
    }
    try {
      await this.api.job(shown.project, job);
    } catch (error) {
      const refusal = asRefusal(error);
      if (refusal.status === 404 && this.all.value.get(kind)?.job === job) {
        this.journals.get(kind)?.dispose();
        this.ends.get(kind)?.(this.put(kind, { ...shown, state: 'failed', error: refusal }));
      }
    }
  }

  private put(kind: string, shown: IShownJob): IShownJob {
    this.all.set(new Map(this.all.value).set(kind, shown));
    return shown;
  }

  private readonly ends = new Map<string, (shown: IShownJob) => void>();
  private readonly journals = new Map<string, Journal>();
}

/** What a line says, or the run's line within it, or how many files are read. */
function textOf(line: IJournalLine): string {
  const inner = line.line as IJournalLine | undefined;
  const count = line.event === 'tierProgress' ? `${line.done} / ${line.listed}` : '';
  return line.text || inner?.text || count;
}
