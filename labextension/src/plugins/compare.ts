import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Comparison } from '../compare/widget';
import type { IPlot } from '../compare/versions';
import { vaibifyIcon } from '../icon';
import { CommandIDs } from '../ids';
import { context } from '../look/hooks';
import { brief } from '../look/words';
import { IVaibify } from '../tokens';

/** Plots beside the versions that were signed, in the main area. */
export const comparePlugin: JupyterFrontEndPlugin<void> = {
  id: 'vaibify-lab:compare',
  description: 'A plot beside the version that was signed.',
  autoStart: true,
  requires: [IVaibify],
  optional: [ITranslator, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    model: IVaibify,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null
  ) => {
    const trans = (translator ?? nullTranslator).load('vaibify_lab');
    const tracker = new WidgetTracker<MainAreaWidget<Comparison>>({ namespace: 'vaibify-compare' });
    app.commands.addCommand(CommandIDs.compare, {
      label: trans.__('Open a Plot Beside Its Signed Version'),
      describedBy: { args: ARGS },
      isEnabled: args => Boolean(args.path && (args.project ?? model.project.value)),
      execute: args => {
        const plot = plotIn(args, model);
        const there = tracker.find(one => isSame(one.content.plot, plot));
        const widget = there ?? opened(new Comparison(context(model, app.commands, trans), plot));
        if (!there) {
          widget.title.caption = trans.__('%1, beside its signed version', brief(plot.path));
          void tracker.add(widget);
          app.shell.add(widget, 'main');
        }
        app.shell.activateById(widget.id);
      }
    });
    void restorer?.restore(tracker, {
      command: CommandIDs.compare,
      args: widget => ({ ...widget.content.plot }),
      name: widget => Object.values(widget.content.plot).join(' ')
    });
  }
};

const TEXT = { type: 'string' } as const;
const ARGS = {
  type: 'object',
  properties: { project: TEXT, step: TEXT, path: TEXT },
  required: ['step', 'path']
} as const;

function opened(content: Comparison): MainAreaWidget<Comparison> {
  const widget = new MainAreaWidget({ content });
  widget.toolbar.hide();
  widget.title.label = brief(PathExt.basename(content.plot.path), 60);
  widget.title.icon = vaibifyIcon;
  return widget;
}

function plotIn(args: ReadonlyPartialJSONObject, model: IVaibify): IPlot {
  const project = String(args.project ?? model.project.value?.id ?? '');
  return { project, step: String(args.step), path: String(args.path) };
}

function isSame(one: IPlot, other: IPlot): boolean {
  return one.project === other.project && one.step === other.step && one.path === other.path;
}
