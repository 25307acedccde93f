import type { ServerConnection } from '@jupyterlab/services';
import { Poll } from '@lumino/polling';
import type { IProject, IProjects } from '../api/answers';
import { asRefusal, type Refusal } from '../api/connection';
import { Api } from '../api/vaibify';
import type { IVaibify } from '../tokens';
import { chosen } from './choice';
import { Detail } from './detail';
import { ImageState } from './image';
import { Jobs } from './jobs';
import { LiveRun } from './live';
import { Review } from './review';
import { Status } from './status';
import { Store } from './store';

const NO_PROJECT_LOOK = 10_000;

/** Which project is open, and what is known of it. */
export class Vaibify implements IVaibify {
  readonly api: Api;
  readonly projects = new Store<IProjects | null>(null);
  readonly fault = new Store<Refusal | null>(null);
  readonly project = new Store<IProject | null>(null);
  readonly step = new Store<string | null>(null);
  readonly marked = new Store<ReadonlySet<string>>(new Set());
  readonly status: Status;
  readonly detail: Detail;
  readonly live: LiveRun;
  readonly jobs: Jobs;
  readonly image: ImageState;
  readonly reviewing = new Store(false);
  readonly review: Review;

  constructor(
    settings: ServerConnection.ISettings,
    private readonly memory: { folder: () => string; remembered: string | null }
  ) {
    this.api = new Api(settings);
    this.status = new Status(this.api);
    this.detail = new Detail(this.api);
    this.live = new LiveRun(settings);
    this.jobs = new Jobs(this.api);
    this.image = new ImageState(this.api, this.jobs);
    this.review = new Review(this.api, this.jobs);
    this.poll = new Poll({
      auto: false,
      factory: () => this.search(),
      frequency: { interval: NO_PROJECT_LOOK, backoff: true, max: 6 * NO_PROJECT_LOOK },
      standby: 'when-hidden',
      name: 'vaibify-lab:projects'
    });
    this.status.value.changed.connect((_, value) => {
      if (value?.current?.state === 'running') {
        this.live.follow(value.id, value.current.run_id);
      }
      void this.readStep();
    });
    this.status.fault.changed.connect((_, fault) => {
      if (fault?.code === 'unknown-project') {
        void this.find();
      }
    });
    this.step.changed.connect(() => void this.readStep());
    this.project.changed.connect(() => this.beginReview());
    this.lookAtImage();
    this.reviewing.changed.connect(() => this.beginReview());
  }

  /** Begin to look. */
  start(): void {
    void this.poll.start();
  }

  async find(): Promise<void> {
    try {
      const found = await this.api.projects(this.memory.folder());
      this.fault.set(null);
      this.projects.set(found);
      this.settleReviewing();
      this.settlePace();
      this.open(chosen(found, this.project.value?.id ?? null, this.memory.remembered));
    } catch (error) {
      this.fault.set(asRefusal(error));
    }
  }

  open(project: IProject | null): void {
    if (project?.id !== this.project.value?.id) {
      this.step.set(null);
      this.marked.set(new Set());
      this.live.clear();
      this.jobs.clear();
      this.review.clear();
    }
    this.project.set(project);
    this.status.open(project?.id ?? null);
  }

  /** Review, whatever the server is for; a reviewer's server makes everybody one. */
  prefer(reviewer: boolean): void {
    this.prefersReview = reviewer;
    this.settleReviewing();
  }

  /** Look every so many seconds; 0: as the server says. */
  pace(seconds: number): void {
    this.seconds = seconds;
    this.settlePace();
  }

  dispose(): void {
    this.poll.dispose();
    this.status.dispose();
    this.live.clear();
    this.jobs.clear();
  }

  /** The image is asked for when it may have become another: that costs a question to the engine. */
  private lookAtImage(): void {
    let known: readonly unknown[] = [];
    const look = (): void => {
      const project = this.project.value?.id ?? null;
      const now = [
        project,
        this.status.value.value?.levels,
        this.jobs.all.value.get('build')?.state
      ];
      if (now.some((one, index) => one !== known[index])) {
        known = now;
        void this.image.load(project);
      }
    };
    this.project.changed.connect(look);
    this.status.value.changed.connect(look);
    this.jobs.all.changed.connect(look);
  }

  private settlePace(): void {
    const seconds = this.seconds || this.projects.value?.settings.poll_seconds;
    if (seconds) {
      this.status.every(seconds);
    }
  }

  private settleReviewing(): void {
    const { reviewer = false } = this.projects.value?.settings ?? {};
    this.reviewing.set(reviewer || this.prefersReview);
  }

  private beginReview(): void {
    if (this.reviewing.value && this.project.value) {
      void this.review.begin(this.project.value.id);
    }
  }

  /** While no project is open one may appear. */
  private async search(): Promise<void> {
    if (!this.project.value) {
      await this.find();
    }
    if (this.fault.value) {
      throw this.fault.value; // ask less often
    }
  }

  private readStep(): Promise<void> {
    return this.detail.load(this.project.value?.id ?? null, this.step.value);
  }

  private seconds = 0;
  private readonly poll: Poll;
  private prefersReview = false;
}
