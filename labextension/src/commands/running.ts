import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IRunAsked } from '../api/answers';
import { brief } from '../look/words';
import type { IShownRun } from '../model/live';
import type { IVaibify } from '../tokens';
import { told } from './told';

/** Start a run, follow it, and say how it ended, wherever the person is by then. */
export async function run(
  model: IVaibify,
  trans: TranslationBundle,
  asked: IRunAsked
): Promise<void> {
  const project = model.project.value;
  if (!project) {
    return;
  }
  const started = await told(
    trans,
    model.api.startRun(project.id, { interactive: true, ...asked })
  );
  if (started) {
    model.live.follow(project.id, started.run_id);
    tellEnd(model, trans, started.run_id);
    void model.status.again();
  }
}

/** Ask the run in progress to stop. */
export async function stop(model: IVaibify, trans: TranslationBundle): Promise<void> {
  const status = model.status.value.value;
  if (status?.current) {
    await told(trans, model.api.stopRun(status.id, status.current.run_id));
    void model.status.again();
  }
}

function tellEnd(model: IVaibify, trans: TranslationBundle, run: string): void {
  const onChange = (_: unknown, shown: IShownRun | null): void => {
    if (shown?.run !== run || shown.outcome !== null) {
      model.live.shown.changed.disconnect(onChange);
    }
    if (shown?.run === run && shown.outcome !== null) {
      void model.status.again();
      tell(trans, model.project.value?.name ?? '', shown.outcome);
    }
  };
  model.live.shown.changed.connect(onChange);
}

function tell(trans: TranslationBundle, project: string, outcome: string): void {
  const name = brief(project, 80);
  switch (outcome) {
    case 'passed':
      Notification.success(trans.__('%1: the run passed', name));
      break;
    case 'interrupted':
      Notification.warning(trans.__('%1: the run was interrupted', name));
      break;
    default:
      Notification.error(trans.__('%1: the run failed', name));
  }
}
