import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { CommandIDs } from '../ids';
import type { IVaibify } from '../tokens';
import { noProject, offer } from './offer';
import { told } from './told';

/** Looking again, opening a file of the project. */
export function addLookCommands(
  commands: CommandRegistry,
  model: IVaibify,
  trans: TranslationBundle
): void {
  offer(commands, CommandIDs.refresh, {
    label: trans.__('Look at the Project Again'),
    execute: async () => {
      await model.find();
      await model.status.again();
    }
  });
  offer(commands, CommandIDs.openFile, {
    label: trans.__('Open a File of the Project'),
    properties: { path: { type: 'string' } },
    hindrance: () => noProject(model, trans),
    execute: async args => {
      const path = PathExt.join(model.project.value?.contents ?? '', String(args.path));
      await told(trans, commands.execute('docmanager:open', { path }));
    }
  });
}
