import type { IStepDetail } from '../api/answers';
import { asRefusal, type Refusal } from '../api/connection';
import type { Api } from '../api/vaibify';
import { Store } from './store';

/** Everything about the step that is open. */
export class Detail {
  readonly value = new Store<IStepDetail | null>(null);
  readonly fault = new Store<Refusal | null>(null);

  constructor(private readonly api: Api) {}

  /** Read a step; an answer that comes late is not shown for another. */
  async load(project: string | null, slug: string | null): Promise<void> {
    const asked = (this.asked += 1);
    if (this.value.value && this.value.value.slug !== slug) {
      this.value.set(null);
    }
    if (!project || !slug) {
      this.value.set(null);
      this.fault.set(null);
      return;
    }
    try {
      const value = await this.api.step(project, slug);
      if (asked === this.asked) {
        this.value.set(value);
        this.fault.set(null);
      }
    } catch (error) {
      if (asked === this.asked) {
        this.fault.set(asRefusal(error));
      }
    }
  }

  private asked = 0;
}
