import type { IJournalLine } from '../api/answers';
import { Store } from './store';

const MOST_ENTRIES = 2_000;

/** A piece of a log: what a step printed, or what the run says of itself. */
export interface IEntry {
  readonly id: number;
  /** The journal's event, or `gap` for what was left out. */
  readonly event: string;
  readonly step: string | null;
  readonly stream: string | null;
  readonly text: string;
  readonly outcome: string | null;
  /** Bytes before the text that are not shown. */
  readonly notShown: number;
}

const TOLD = new Set([
  'output',
  'preparing',
  'preflight',
  'runStarted',
  'stepStarted',
  'testsStarted',
  'tests',
  'stepPass',
  'stepCached',
  'stepFail',
  'stepBlocked',
  'stepSkipped',
  'stepWaiting',
  'stepPaused',
  'stepResumed',
  'stepCompleted',
  'stepAbandoned',
  'note',
  'warning',
  'runComplete',
  'runRefused'
]);

const GAP = { event: 'gap', step: null, stream: null, text: '', outcome: null };

/** The newest part of a run's output; bounded, however much a step prints. */
export class Log {
  readonly entries = new Store<readonly IEntry[]>([]);
  /** The whole log of what was last shown of each step: as `output` events name it. */
  readonly whole = new Store<ReadonlyMap<string, string>>(new Map());

  /** How many characters are kept. */
  most = 400_000;

  clear(): void {
    this.waiting = [];
    this.entries.set([]);
    this.whole.set(new Map());
  }

  add(line: IJournalLine): void {
    const step = line.step ?? null;
    if (step && line.log && this.whole.value.get(step) !== line.log) {
      this.whole.set(new Map(this.whole.value).set(step, line.log));
    }
    if (TOLD.has(line.event)) {
      this.push({
        event: line.event,
        step,
        stream: line.stream ?? null,
        text: line.text ?? String(line.by ?? ''),
        outcome: line.outcome ?? null,
        notShown: line.not_shown ?? 0
      });
    }
  }

  /** Gather what comes within a frame: drawing once is enough. */
  private push(entry: Omit<IEntry, 'id'>): void {
    this.waiting.push({ ...entry, id: this.next++ });
    if (this.waiting.length === 1) {
      setTimeout(() => this.flush(), 50);
    }
  }

  private flush(): void {
    if (this.waiting.length) {
      const all = [...this.entries.value, ...this.waiting];
      this.waiting = [];
      this.entries.set(bounded(all, this.most));
    }
  }

  private waiting: IEntry[] = [];
  private next = 1;
}

/** The newest entries within the bounds; what is left out is counted at the top. */
export function bounded(all: readonly IEntry[], most: number): readonly IEntry[] {
  let characters = 0;
  let from = all.length;
  while (from > 0 && all.length - from < MOST_ENTRIES) {
    characters += all[from - 1].text.length;
    if (characters > most && from < all.length) {
      break;
    }
    from -= 1;
  }
  if (from === 0) {
    return all;
  }
  const left = all.slice(0, from).reduce((sum, one) => sum + one.notShown + one.text.length, 0);
  return [{ ...GAP, id: all[0].id, notShown: left }, ...all.slice(from)];
}
