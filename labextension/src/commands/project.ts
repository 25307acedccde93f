import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { CommandIDs } from '../ids';
import type { IVaibify } from '../tokens';
import { job, type JobKind } from './job';
import { told } from './told';

const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;

/** Setting up, writing and checking the envelope, building the image. */
export function addProjectCommands(
  commands: CommandRegistry,
  model: IVaibify,
  trans: TranslationBundle,
  folder: () => string
): void {
  const addJob = (id: string, kind: JobKind, label: string): unknown =>
    commands.addCommand(id, {
      label,
      describedBy: NO_ARGUMENTS,
      isEnabled: () =>
        model.project.value !== null && (kind === 'verify' || !model.reviewing.value),
      execute: () => job(model, trans, kind)
    });
  addJob(CommandIDs.envelope, 'envelope', trans.__('Write the Envelope (Archive)'));
  addJob(CommandIDs.look, 'look', trans.__('Verify All Steps, Running Nothing'));
  addJob(CommandIDs.verify, 'verify', trans.__('Verify the Listed Files'));
  addJob(CommandIDs.build, 'build', trans.__('Build the Image'));
  commands.addCommand(CommandIDs.cancelBuild, {
    label: trans.__('Cancel the Build of the Image'),
    describedBy: NO_ARGUMENTS,
    isEnabled: () => model.jobs.all.value.get('build')?.state === 'running',
    execute: async () => {
      const build = model.jobs.all.value.get('build');
      await told(trans, build ? model.api.cancelJob(build.project, build.job) : Promise.resolve());
    }
  });
  commands.addCommand(CommandIDs.init, {
    label: trans.__('Set Up a Project in the Open Folder'),
    isEnabled: () => !model.reviewing.value,
    describedBy: NO_ARGUMENTS,
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
