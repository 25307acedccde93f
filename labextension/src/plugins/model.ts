import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { PageConfig, PathExt } from '@jupyterlab/coreutils';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import type { IProject } from '../api/answers';
import { listen } from '../model/events';
import { Vaibify } from '../model/vaibify';
import { SETTINGS } from '../ids';
import { IVaibify } from '../tokens';

const KEY = 'vaibify-lab:project';

/** Which project is open, and what is known of it. */
export const modelPlugin: JupyterFrontEndPlugin<IVaibify> = {
  id: 'vaibify-lab:model',
  description: 'The project that is open, and what of it is verified.',
  autoStart: true,
  provides: IVaibify,
  optional: [IDefaultFileBrowser, IStateDB, ISettingRegistry],
  activate: (
    app: JupyterFrontEnd,
    browser: IDefaultFileBrowser | null,
    memory: IStateDB | null,
    registry: ISettingRegistry | null
  ): IVaibify => {
    const notebook = PageConfig.getOption('notebookPath'); // of a page of Notebook 7
    const folder = (): string => browser?.model.path ?? PathExt.dirname(notebook);
    const place = { folder, remembered: null as string | null };
    const model = new Vaibify(app.serviceManager.serverSettings, place);
    void follow(model, registry);
    listen(model, app.serviceManager.events);
    browser?.model.pathChanged.connect(() => {
      if (!model.project.value) {
        void model.find();
      }
    });
    void Promise.all([app.restored, memory?.fetch(KEY)]).then(([, remembered]) => {
      place.remembered = typeof remembered === 'string' && !notebook ? remembered : null;
      model.project.changed.connect((_, project: IProject | null) => {
        if (project) {
          void memory?.save(KEY, project.id);
        }
      });
      model.start();
    });
    return model;
  }
};

/** Do as the person's settings say, now and when they change. */
async function follow(model: Vaibify, registry: ISettingRegistry | null): Promise<void> {
  const settings = await registry?.load(SETTINGS);
  const read = (): void => {
    const { reviewer, pollSeconds, logKilobytes } = settings?.composite ?? {};
    model.prefer(reviewer === true);
    model.pace(Number(pollSeconds ?? 0));
    model.live.keep(1000 * Number(logKilobytes ?? 400));
  };
  settings?.changed.connect(read);
  read();
}
