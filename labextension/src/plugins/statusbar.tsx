import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import { context, Context } from '../look/hooks';
import { StatusItem } from '../panel/statusItem';
import { IVaibify } from '../tokens';

/** The rungs that are met, and the run in progress, in the status bar. */
export const statusBarPlugin: JupyterFrontEndPlugin<void> = {
  id: 'vaibify-lab:status-bar',
  description: 'How far the open project is verified, in the status bar.',
  autoStart: true,
  requires: [IVaibify],
  optional: [IStatusBar, ITranslator], // Notebook 7 has no status bar
  activate: (
    app: JupyterFrontEnd,
    model: IVaibify,
    statusBar: IStatusBar | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load('vaibify_lab');
    const item = ReactWidget.create(
      <Context.Provider value={context(model, app.commands, trans)}>
        <StatusItem />
      </Context.Provider>
    );
    statusBar?.registerStatusItem('vaibify-lab:status-bar', { item, align: 'left', rank: 20 });
  }
};
