import { Poll } from '@lumino/polling';
import type { IFileStatus } from '../api/answers';
import { asRefusal, type Refusal } from '../api/connection';
import type { Api } from '../api/vaibify';
import { Store } from './store';

const LONGEST = 60_000;

/**
 * What is true of the open project, asked again and again while somebody looks at the page. What
 * did not change stays the same object, down to the step, so that nothing of it is drawn again.
 */
export class Status {
  readonly value = new Store<IFileStatus | null>(null);
  /** Why the last question had no answer. */
  readonly fault = new Store<Refusal | null>(null);

  constructor(private readonly api: Api) {
    this.poll = new Poll({
      auto: false,
      factory: () => this.look(),
      frequency: { interval: 5000, backoff: true, max: LONGEST },
      standby: 'when-hidden',
      name: 'vaibify-lab:status'
    });
  }

  /** Open another project, or none. */
  open(project: string | null): void {
    if (project !== this.project) {
      this.project = project;
      this.tag = null;
      this.value.set(null);
      this.fault.set(null);
    }
    void (project ? this.again() : this.poll.stop());
  }

  /** Set the seconds between two looks. */
  every(seconds: number): void {
    const interval = 1000 * seconds;
    if (interval !== this.poll.frequency.interval) {
      this.poll.frequency = { interval, backoff: true, max: Math.max(interval, LONGEST) };
      void this.again(); // the wait that was begun may be longer
    }
  }

  /** Look again at once; what was asked before something happened does not count. */
  async again(): Promise<void> {
    if (!this.project) {
      return;
    }
    this.due = true;
    if (!this.asking) {
      await this.poll.refresh();
      await this.poll.tick.catch(() => undefined);
    }
  }

  dispose(): void {
    this.poll.dispose();
  }

  private async look(): Promise<void> {
    this.asking = true;
    try {
      do {
        this.due = false;
        await this.ask();
      } while (this.due);
    } finally {
      this.asking = false;
    }
  }

  private async ask(): Promise<void> {
    const project = this.project;
    if (!project) {
      return;
    }
    try {
      const answer = await this.api.status(project, this.tag);
      if (project === this.project) {
        this.fault.set(null);
        if (answer.changed) {
          this.tag = answer.tag;
          this.value.set(merged(this.value.value, answer.value));
        }
      }
    } catch (error) {
      if (project === this.project) {
        this.fault.set(asRefusal(error));
      }
      throw error;
    }
  }

  private readonly poll: Poll;
  private project: string | null = null;
  private tag: string | null = null;
  private asking = false;
  private due = false;
}

function merged(old: IFileStatus | null, now: IFileStatus): IFileStatus {
  if (!old) {
    return now;
  }
  const known = new Map(old.steps.map(step => [step.slug, step]));
  const steps = now.steps.map(step => kept(known.get(step.slug), step));
  const same = steps.length === old.steps.length && steps.every((step, i) => step === old.steps[i]);
  return {
    ...now,
    steps: same ? old.steps : steps,
    levels: kept(old.levels, now.levels),
    warnings: kept(old.warnings, now.warnings),
    current: kept(old.current, now.current)
  };
}

/** The old value where the new one says the same. */
export function kept<T>(old: T | undefined, now: T): T {
  return old !== undefined && JSON.stringify(old) === JSON.stringify(now) ? old : now;
}
