import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { CommandIDs } from '../ids';
import type { IVaibify } from '../tokens';
import { job, type JobKind } from './job';
import { noProject, notMine, offer } from './offer';
import { told } from './told';

/** Setting up, writing and checking the envelope, building the image. */
export function addProjectCommands(
  commands: CommandRegistry,
  model: IVaibify,
  trans: TranslationBundle,
  folder: () => string
): void {
  const { all } = model.jobs;
  const addJob = (id: string, kind: JobKind, label: string): void =>
    offer(commands, id, {
      label,
      hindrance: () =>
        (kind === 'verify' ? noProject(model, trans) : notMine(model, trans)) ??
        (all.value.get(kind)?.state === 'running' ? trans.__('in progress') : null),
      execute: () => job(model, trans, kind)
    });
  addJob(CommandIDs.envelope, 'envelope', trans.__('Write the Envelope (Archive)'));
  addJob(CommandIDs.look, 'look', trans.__('Verify All Steps, Running Nothing'));
  addJob(CommandIDs.verify, 'verify', trans.__('Verify the Listed Files'));
  addJob(CommandIDs.build, 'build', trans.__('Build the Image'));
  offer(commands, CommandIDs.cancelBuild, {
    label: trans.__('Cancel the Build of the Image'),
    hindrance: () =>
      all.value.get('build')?.state === 'running' ? null : trans.__('no build is in progress'),
    execute: async () => {
      const build = all.value.get('build');
      await told(trans, build ? model.api.cancelJob(build.project, build.job) : Promise.resolve());
    }
  });
  offer(commands, CommandIDs.init, {
    label: trans.__('Set Up a Project in the Open Folder'),
    hindrance: () => (model.reviewing.value ? trans.__('not in reviewer mode') : null),
    execute: () => init(model, trans, folder())
  });
}

async function init(model: IVaibify, trans: TranslationBundle, folder: string): Promise<void> {
  const made = await told(trans, model.api.init(folder));
  if (made) {
    await model.find();
    const project = model.projects.value?.projects.find(one => made.projects.includes(one.id));
    model.open(project ?? model.project.value);
    Notification.success(trans.__('Written: %1', made.written.join(', ')));
  }
}
