import { Token } from '@lumino/coreutils';
import type { IProject, IProjects } from './api/answers';
import type { Refusal } from './api/connection';
import type { Api } from './api/vaibify';
import type { Detail } from './model/detail';
import type { ImageState } from './model/image';
import type { Jobs } from './model/jobs';
import type { LiveRun } from './model/live';
import type { Review } from './model/review';
import type { Status } from './model/status';
import type { Store } from './model/store';

/** What every part of the extension shares: which project is open, and what is known of it. */
export interface IVaibify {
  readonly api: Api;
  readonly projects: Store<IProjects | null>;
  /** Why the projects could not be asked for. */
  readonly fault: Store<Refusal | null>;
  readonly project: Store<IProject | null>;
  /** The slug of the step that is open. */
  readonly step: Store<string | null>;
  /** The slugs of the steps that are selected. */
  readonly marked: Store<ReadonlySet<string>>;
  readonly status: Status;
  readonly detail: Detail;
  readonly live: LiveRun;
  readonly jobs: Jobs;
  readonly image: ImageState;
  /** Whether the person is here to review: then nothing is recorded. */
  readonly reviewing: Store<boolean>;
  readonly review: Review;
  /** Look for projects again. */
  find(): Promise<void>;
  /** Show another project. */
  open(project: IProject | null): void;
}

export const IVaibify = new Token<IVaibify>(
  'vaibify-lab:IVaibify',
  'The project that is open in JupyterLab, and what of it is verified.'
);
