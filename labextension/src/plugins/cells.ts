import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { Book } from '../cells/book';
import { onServer } from '../cells/where';
import { addCellCommands } from '../commands/cells';
import { addMakeCommand } from '../commands/makeStep';
import { CommandIDs } from '../ids';
import { context } from '../look/hooks';
import { IVaibify } from '../tokens';

/** The badges of step cells, and what can be asked for at a cell. */
export const cellsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'vaibify-lab:cells',
  description: 'Badges at the cells that are steps.',
  autoStart: true,
  requires: [IVaibify],
  optional: [INotebookTracker, ITranslator, ICommandPalette], // some pages of Notebook 7 have none
  activate: (
    app: JupyterFrontEnd,
    model: IVaibify,
    tracker: INotebookTracker | null,
    translator: ITranslator | null,
    palette: ICommandPalette | null
  ) => {
    if (!tracker) {
      return;
    }
    const trans = (translator ?? nullTranslator).load('vaibify_lab');
    const shared = context(model, app.commands, trans);
    const books = new WeakMap<object, Book>();
    tracker.widgetAdded.connect((_, panel) => {
      const { contents } = app.serviceManager;
      books.set(panel, new Book(panel, shared, () => onServer(contents, panel.context.path)));
    });
    const current = (): Book | null =>
      (tracker.currentWidget && books.get(tracker.currentWidget)) ?? null;
    addCellCommands(app.commands, model, trans, current);
    addMakeCommand(app.commands, model, trans, current);
    const again = (): void => app.commands.notifyCommandChanged(CommandIDs.cellMake);
    tracker.activeCellChanged.connect(again);
    model.reviewing.changed.connect(again);
    const category = trans.__('Vaibify');
    const all = [
      CommandIDs.cellStep,
      CommandIDs.cellRun,
      CommandIDs.cellsRunStale,
      CommandIDs.cellSignOff
    ];
    palette?.addItem({ command: CommandIDs.cellMake, category });
    app.contextMenu.addItem({
      command: CommandIDs.cellMake,
      selector: '.jp-Notebook .jp-CodeCell:not(.vb-mod-step)',
      rank: 50
    });
    all.forEach((command, index) => {
      palette?.addItem({ command, category });
      app.contextMenu.addItem({ command, selector: '.vb-mod-step', rank: 50 + index });
    });
  }
};
