import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { IProjects } from '../api/answers';
import { noProject, offer } from '../commands/offer';
import { CommandIDs, SETTINGS } from '../ids';
import { context } from '../look/hooks';
import { VaibifyPanel } from '../panel/panel';
import { IVaibify } from '../tokens';

/** The side panel. */
export const panelPlugin: JupyterFrontEndPlugin<void> = {
  id: 'vaibify-lab:panel',
  description: 'The Vaibify side panel.',
  autoStart: true,
  requires: [IVaibify],
  optional: [ILayoutRestorer, ITranslator, ISettingRegistry],
  activate: (
    app: JupyterFrontEnd,
    model: IVaibify,
    restorer: ILayoutRestorer | null,
    translator: ITranslator | null,
    registry: ISettingRegistry | null
  ) => {
    const language = translator ?? nullTranslator;
    const trans = language.load('vaibify_lab');
    const panel = new VaibifyPanel(context(model, app.commands, trans), language);
    restorer?.add(panel, panel.id);
    app.shell.add(panel, 'left', { rank: 300, type: 'Vaibify' });
    void keepSide(app, panel, registry);
    void showToReviewer(app, model, panel.id);
    offer(app.commands, CommandIDs.open, {
      label: trans.__('Show the Vaibify Panel'),
      execute: () => app.shell.activateById(panel.id)
    });
    offer(app.commands, CommandIDs.log, {
      label: trans.__('Show the Log of the Latest Run'),
      properties: { run: { type: 'string' } },
      hindrance: () => noProject(model, trans),
      execute: async args => {
        const project = model.project.value;
        const run = args.run ? String(args.run) : project && (await latest(model, project.id));
        if (project && run) {
          model.live.follow(project.id, run);
          panel.expand('log');
        }
      }
    });
  }
};

/** Keep the panel on the side that the person's settings say. */
async function keepSide(
  app: JupyterFrontEnd,
  panel: VaibifyPanel,
  registry: ISettingRegistry | null
): Promise<void> {
  const settings = await registry?.load(SETTINGS);
  let side = 'left';
  const move = (): void => {
    const wanted = settings?.composite.side === 'right' ? 'right' : 'left';
    if (wanted !== side) {
      side = wanted;
      const isOpen = panel.isVisible;
      app.shell.add(panel, side, { rank: 300, type: 'Vaibify' });
      if (isOpen) {
        app.shell.activateById(panel.id); // JupyterLab adds it closed
      }
    }
  };
  settings?.changed.connect(move);
  move();
}

/** Who comes to a reviewer's server came for the panel: open it, once. */
async function showToReviewer(app: JupyterFrontEnd, model: IVaibify, panel: string): Promise<void> {
  await app.restored;
  const onFound = (_: unknown, found: IProjects | null): void => {
    if (found) {
      model.projects.changed.disconnect(onFound);
    }
    if (found?.settings.reviewer) {
      app.shell.activateById(panel);
    }
  };
  model.projects.changed.connect(onFound);
  onFound(null, model.projects.value);
}

async function latest(model: IVaibify, project: string): Promise<string | null> {
  const { runs, current } = await model.api.runs(project);
  return current ?? runs[runs.length - 1]?.run_id ?? null;
}
