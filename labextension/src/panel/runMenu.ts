import { MenuSvg } from '@jupyterlab/ui-components';
import { CommandIDs } from '../ids';
import type { IContext } from '../look/hooks';

/** Open the menu of what can be run below a button; the focus comes back to it. */
export function runMenu(context: IContext, button: HTMLElement): void {
  const { commands, model } = context;
  const menu = new MenuSvg({ commands });
  const add = (command: string, args: object): unknown =>
    menu.addItem({ command, args: { ...args } });
  const open = model.step.value;
  const steps = [...model.marked.value];
  add(CommandIDs.run, { mode: 'stale' });
  add(CommandIDs.run, { mode: 'all' });
  add(CommandIDs.run, { mode: 'from', steps: open ? [open] : [] });
  add(CommandIDs.run, { mode: 'steps', steps });
  menu.addItem({ type: 'separator' });
  add(CommandIDs.run, { mode: 'all', tests_only: true });
  add(CommandIDs.look, {});
  menu.aboutToClose.connect(() => button.focus());
  const { left, bottom } = button.getBoundingClientRect();
  menu.open(left, bottom);
}
