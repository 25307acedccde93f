import { ILayoutRestorer, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { SidePanel } from '@jupyterlab/ui-components';
import { vaibifyIcon } from '../icon';

/** The side panel. */
export const panelPlugin: JupyterFrontEndPlugin<void> = {
  id: 'vaibify-lab:panel',
  description: 'The Vaibify side panel.',
  autoStart: true,
  optional: [ILayoutRestorer, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    restorer: ILayoutRestorer | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load('vaibify_lab');
    const panel = new SidePanel({ translator: translator ?? nullTranslator });
    panel.id = 'vaibify-panel';
    panel.title.icon = vaibifyIcon;
    panel.title.caption = trans.__('Vaibify');
    panel.node.setAttribute('role', 'region');
    panel.node.setAttribute('aria-label', trans.__('Vaibify'));
    panel.addClass('vb-Panel');
    restorer?.add(panel, panel.id);
    app.shell.add(panel, 'left', { rank: 300 });
  }
};
