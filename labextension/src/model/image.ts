import type { IImage } from '../api/answers';
import { asRefusal, type Refusal } from '../api/connection';
import type { Api } from '../api/vaibify';
import type { Jobs } from './jobs';
import { Store } from './store';

/** What the server says of engine and image; asked once for everybody who shows it. */
export class ImageState {
  readonly value = new Store<IImage | null>(null);
  readonly fault = new Store<Refusal | null>(null);

  constructor(
    private readonly api: Api,
    private readonly jobs: Jobs
  ) {}

  /** Ask, and follow a build that goes on whoever began it; an answer that comes late is dropped. */
  async load(project: string | null): Promise<void> {
    const asked = (this.asked += 1);
    if (project !== this.project) {
      this.project = project;
      this.value.set(null);
      this.fault.set(null);
    }
    if (!project) {
      return;
    }
    try {
      const value = await this.api.image(project);
      if (asked === this.asked) {
        this.value.set(value);
        this.fault.set(null);
        this.take(project, value);
      }
    } catch (error) {
      if (asked === this.asked) {
        this.fault.set(asRefusal(error));
      }
    }
  }

  private take(project: string, { build }: IImage): void {
    const isKnown = build?.job === this.jobs.all.value.get('build')?.job;
    if (build?.state === 'running' && !isKnown) {
      void this.jobs.follow('build', project, build.job);
    }
  }

  private project: string | null = null;
  private asked = 0;
}
