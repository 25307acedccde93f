import type { ServerConnection } from '@jupyterlab/services';
import type { IJournalLine } from '../api/answers';
import { Journal } from '../api/journal';
import { journalPath } from '../api/vaibify';
import { Log } from './log';
import { Store } from './store';

/** The run whose journal is shown. */
export interface IShownRun {
  readonly project: string;
  readonly run: string;
  readonly connected: boolean;
  /** The step that runs, as the journal names it. */
  readonly step: string | null;
  readonly done: number;
  readonly planned: number;
  /** How it ended; null while it lives. */
  readonly outcome: string | null;
}

/** A step that waits for its person, and what is to be done there. */
export interface IWaiting {
  readonly isPaused: boolean;
  readonly commands: readonly string[];
  readonly outputs: readonly string[];
}

interface IPlanned {
  action: string;
}

/** Follows one run at a time: its log, and how far it is. */
export class LiveRun {
  readonly shown = new Store<IShownRun | null>(null);
  readonly log = new Log();
  /** The steps that wait now, by slug. */
  readonly waiting = new Store<ReadonlyMap<string, IWaiting>>(NOBODY);

  constructor(private readonly settings: ServerConnection.ISettings) {}

  /** Show that run; from its beginning, unless it is shown already. */
  follow(project: string, run: string): void {
    const shown = this.shown.value;
    if (shown?.project === project && shown.run === run) {
      return;
    }
    this.read(project, run);
  }

  /** Keep so many characters of a log; the shown one is read again, there may be more of it. */
  keep(characters: number): void {
    const isOther = characters !== this.log.most;
    this.log.most = characters;
    const shown = this.shown.value;
    if (shown && isOther) {
      this.read(shown.project, shown.run);
    }
  }

  /** Show no run. */
  clear(): void {
    this.forget();
    this.shown.set(null);
  }

  private read(project: string, run: string): void {
    this.forget();
    this.shown.set({ ...FRESH, project, run });
    this.journal = new Journal(this.settings, journalPath(project, 'runs', run), {
      line: line => this.take(line),
      connected: connected => this.put({ connected })
    });
  }

  private forget(): void {
    this.journal?.dispose();
    this.journal = null;
    this.log.clear();
    this.waiting.set(NOBODY);
  }

  private take(line: IJournalLine): void {
    this.log.add(line);
    this.waiting.set(waitingAfter(this.waiting.value, line));
    const shown = this.shown.value;
    switch (line.event) {
      case 'runStarted': {
        const plan = (line.plan ?? []) as IPlanned[];
        return this.put({ planned: plan.filter(one => one.action !== 'skip').length });
      }
      case 'stepStarted':
      case 'testsStarted':
        return this.put({ step: line.step ?? null });
      case 'stepSettled':
        return this.put({ done: (shown?.done ?? 0) + 1 });
      case 'runComplete':
      case 'runRefused':
        return this.put({ outcome: line.outcome ?? 'refused', step: null });
    }
  }

  private put(change: Partial<IShownRun>): void {
    const shown = this.shown.value;
    if (shown) {
      this.shown.set({ ...shown, ...change });
    }
  }

  private journal: Journal | null = null;
}

const NOBODY: ReadonlyMap<string, IWaiting> = new Map();

function waitingAfter(
  before: ReadonlyMap<string, IWaiting>,
  line: IJournalLine
): ReadonlyMap<string, IWaiting> {
  const slug = line.step ?? '';
  const one = before.get(slug);
  const put = (value: IWaiting): ReadonlyMap<string, IWaiting> => new Map(before).set(slug, value);
  switch (line.event) {
    case 'stepWaiting':
      return put({ isPaused: false, commands: texts(line.commands), outputs: texts(line.outputs) });
    case 'stepPaused':
    case 'stepResumed':
      return one ? put({ ...one, isPaused: line.event === 'stepPaused' }) : before;
    case 'runComplete':
    case 'runRefused':
      return NOBODY;
    case 'stepCompleted':
    case 'stepAbandoned':
    case 'stepFail':
    case 'stepSettled':
      return one ? new Map([...before].filter(([other]) => other !== slug)) : before;
    default:
      return before;
  }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

const FRESH = { connected: false, step: null, done: 0, planned: 0, outcome: null };
