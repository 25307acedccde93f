import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { CommandIDs } from '../ids';
import type { IVaibify } from '../tokens';
import { told } from './told';

/** Looking again, opening a file of the project. */
export function addLookCommands(
  commands: CommandRegistry,
  model: IVaibify,
  trans: TranslationBundle
): void {
  commands.addCommand(CommandIDs.refresh, {
    label: trans.__('Look at the Project Again'),
    describedBy: { args: { type: 'object', properties: {} } },
    execute: async () => {
      await model.find();
      await model.status.again();
    }
  });
  commands.addCommand(CommandIDs.openFile, {
    label: trans.__('Open a File of the Project'),
    describedBy: { args: { type: 'object', properties: { path: { type: 'string' } } } },
    isEnabled: () => model.project.value !== null,
    execute: async args => {
      const path = PathExt.join(model.project.value?.contents ?? '', String(args.path));
      await told(trans, commands.execute('docmanager:open', { path }));
    }
  });
}
