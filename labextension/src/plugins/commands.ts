import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { addAttendCommands } from '../commands/attending';
import { addLookCommands } from '../commands/look';
import { addProjectCommands } from '../commands/project';
import { addRunCommands } from '../commands/register';
import { addReviewCommands } from '../commands/reviewing';
import { CommandIDs } from '../ids';
import { IVaibify } from '../tokens';

/** Everything a person can ask for, as commands; the palette offers those that need no argument. */
export const commandsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'vaibify-lab:commands',
  description: 'Commands of Vaibify.',
  autoStart: true,
  requires: [IVaibify],
  optional: [ITranslator, ICommandPalette, IDefaultFileBrowser],
  activate: (
    app: JupyterFrontEnd,
    model: IVaibify,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    browser: IDefaultFileBrowser | null
  ) => {
    const trans = (translator ?? nullTranslator).load('vaibify_lab');
    addRunCommands(app.commands, model, trans);
    addProjectCommands(app.commands, model, trans, () => browser?.model.path ?? '');
    addLookCommands(app.commands, model, trans);
    addAttendCommands(app.commands, model, trans);
    addReviewCommands(app.commands, model, trans);
    const category = trans.__('Vaibify');
    const offer = (command: string, args = {}): unknown =>
      palette?.addItem({ command, category, args });
    offer(CommandIDs.open);
    offer(CommandIDs.run, { mode: 'stale' });
    offer(CommandIDs.run, { mode: 'all' });
    offer(CommandIDs.run, { mode: 'all', tests_only: true });
    [
      CommandIDs.stop,
      CommandIDs.terminal,
      CommandIDs.pause,
      CommandIDs.resume,
      CommandIDs.complete,
      CommandIDs.signOff,
      CommandIDs.acknowledge,
      CommandIDs.envelope,
      CommandIDs.look,
      CommandIDs.verify,
      CommandIDs.build,
      CommandIDs.cancelBuild,
      CommandIDs.init,
      CommandIDs.check,
      CommandIDs.rerun,
      CommandIDs.review,
      CommandIDs.log,
      CommandIDs.refresh
    ].forEach(command => offer(command));
  }
};
