import { cellsPlugin } from './plugins/cells';
import { commandsPlugin } from './plugins/commands';
import { comparePlugin } from './plugins/compare';
import { modelPlugin } from './plugins/model';
import { panelPlugin } from './plugins/panel';
import { statusBarPlugin } from './plugins/statusbar';

export { IVaibify } from './tokens';

export default [
  modelPlugin,
  commandsPlugin,
  panelPlugin,
  comparePlugin,
  statusBarPlugin,
  cellsPlugin
];
