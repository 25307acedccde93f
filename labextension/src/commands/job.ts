import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { brief } from '../look/words';
import type { IVaibify } from '../tokens';
import { complain, told } from './told';

/** What a job is called where it is started and told of. */
export type JobKind = 'build' | 'envelope' | 'look' | 'verify';

/** Start a job and say how it ended. */
export async function job(model: IVaibify, trans: TranslationBundle, kind: JobKind): Promise<void> {
  const project = model.project.value;
  if (!project) {
    return;
  }
  const { api } = model;
  const starters = {
    build: api.build,
    envelope: api.writeEnvelope,
    look: api.verifySteps,
    verify: api.verifyManifest
  };
  const started = await told(trans, starters[kind].call(api, project.id));
  if (!started) {
    return;
  }
  const ended = await model.jobs.follow(kind, project.id, started.job);
  void model.status.again();
  if (ended.state === 'done') {
    done(trans, kind, ended.result);
  } else if (ended.state === 'failed') {
    complain(trans, ended.error ?? { text: trans.__('the job failed') });
  }
}

function done(trans: TranslationBundle, kind: JobKind, result: unknown): void {
  switch (kind) {
    case 'build':
      Notification.success(trans.__('The image is built and pinned.'));
      break;
    case 'envelope':
      Notification.success(trans.__('The envelope is written.'));
      break;
    case 'look':
      looked(trans, result as ILooked | null);
      break;
    case 'verify':
      verified(trans, result as ITier | null);
  }
}

interface ILooked {
  green: boolean;
  steps: { name: string; green: boolean }[];
}

function looked(trans: TranslationBundle, found: ILooked | null): void {
  const all = found?.steps ?? [];
  const bad = all.filter(step => !step.green).map(step => brief(step.name, 60));
  const good = trans.__(
    'Every byte was read: %1 of %2 steps are verified.',
    all.length - bad.length,
    all.length
  );
  if (found?.green) {
    Notification.success(good);
  } else {
    const named = bad.length > 5 ? [...bad.slice(0, 5), '…'] : bad;
    const text = named.length ? trans.__('%1 Not: %2', good, named.join(', ')) : good;
    complain(trans, { text }, 'warning');
  }
}

interface ITier {
  state: string;
  checked: number | null;
  listed: number | null;
}

/** Never more than was checked. */
function verified(trans: TranslationBundle, tier: ITier | null): void {
  const [checked, listed] = [tier?.checked ?? 0, tier?.listed ?? 0];
  if (tier?.state === 'passed') {
    Notification.success(trans.__('%1 of %2 files are the ones listed.', checked, listed));
  } else {
    const text = trans.__('Not confirmed: %1 of %2 listed files were checked.', checked, listed);
    complain(trans, { text });
  }
}
