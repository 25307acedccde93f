import type { IRerun } from '../api/answers';
import { asRefusal, type Refusal } from '../api/connection';
import type { Api } from '../api/vaibify';
import type { IShownJob, Jobs } from './jobs';
import { Store } from './store';

/** The tiers that take a container engine where there is one: not begun without being asked. */
const WITH_ENGINE = [2, 3];

/** What a reviewer has checked: the server checks, and knows what it came to. */
export class Review {
  /** What reruns came to, by the step's slug. */
  readonly reruns = new Store<ReadonlyMap<string, IRerun>>(new Map());
  /** Why something could not begin. */
  readonly fault = new Store<Refusal | null>(null);

  constructor(
    private readonly api: Api,
    private readonly jobs: Jobs
  ) {}

  /** Show what was checked already, else check at once what needs no container engine. */
  async begin(project: string): Promise<void> {
    if (this.project === project) {
      return;
    }
    this.project = project;
    this.reruns.set(new Map());
    await this.guard(async () => {
      await this.findReruns(project);
      if (!(await this.find(project))) {
        const { engine } = await this.api.image(project);
        await this.follow(project, engine.state === 'ok' ? WITH_ENGINE : []);
      }
    });
  }

  /** Check every tier. */
  check(project: string): Promise<void> {
    return this.guard(() => this.follow(project, []));
  }

  /** Run a step again on a copy, and compare. */
  rerun(project: string, slug: string): Promise<void> {
    return this.guard(async () => {
      const { job } = await this.api.rerun(project, [slug]);
      this.took(await this.jobs.follow('rerun', project, job));
    });
  }

  clear(): void {
    this.project = null;
    this.reruns.set(new Map());
    this.fault.set(null);
  }

  private async follow(project: string, skip: number[]): Promise<void> {
    const { job } = await this.api.reproduce(project, skip);
    await this.jobs.follow('reproduction', project, job);
  }

  /** Follow the newest check of this server, if it has one that did not fail. */
  private async find(project: string): Promise<boolean> {
    const known = (await this.api.jobs(project, 'reproductions')).jobs.pop();
    if (!known || known.state === 'failed' || known.state === 'cancelled') {
      return false;
    }
    void this.jobs.follow('reproduction', project, known.job);
    return true;
  }

  private async findReruns(project: string): Promise<void> {
    for (const one of (await this.api.jobs(project, 'reruns')).jobs) {
      if (one.state === 'running') {
        void this.jobs.follow('rerun', project, one.job).then(ended => this.took(ended));
      } else if (one.state === 'done') {
        this.put(one.result as IRerun);
      }
    }
  }

  private took(ended: IShownJob): void {
    if (ended.project === this.project && ended.state === 'done') {
      this.put(ended.result as IRerun);
    } else if (ended.project === this.project && ended.error) {
      this.fault.set(asRefusal(ended.error));
    }
  }

  private put(result: IRerun): void {
    const next = new Map(this.reruns.value);
    result.steps.forEach(slug => next.set(slug, result));
    this.reruns.set(next);
  }

  private async guard(work: () => Promise<void>): Promise<void> {
    this.fault.set(null);
    try {
      await work();
    } catch (error) {
      this.fault.set(asRefusal(error));
    }
  }

  private project: string | null = null;
}
