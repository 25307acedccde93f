/** The commands' names. */
export namespace CommandIDs {
  export const open = 'vaibify:open';
  export const refresh = 'vaibify:refresh';
  export const run = 'vaibify:run';
  export const stop = 'vaibify:stop-run';
  export const signOff = 'vaibify:sign-off';
  export const acknowledge = 'vaibify:acknowledge';
  export const envelope = 'vaibify:envelope';
  export const verify = 'vaibify:verify';
  export const cancelBuild = 'vaibify:cancel-build';
  export const look = 'vaibify:verify-steps';
  export const build = 'vaibify:build';
  export const init = 'vaibify:init';
  export const openFile = 'vaibify:open-file';
  export const compare = 'vaibify:compare';
  export const terminal = 'vaibify:terminal';
  export const pause = 'vaibify:pause';
  export const resume = 'vaibify:resume';
  export const complete = 'vaibify:complete';
  export const log = 'vaibify:log';
  export const check = 'vaibify:check';
  export const rerun = 'vaibify:rerun';
  export const review = 'vaibify:review';
  export const cellMake = 'vaibify:cell-make-step';
  export const cellStep = 'vaibify:cell-step';
  export const cellRun = 'vaibify:cell-run';
  export const cellsRunStale = 'vaibify:cells-run-stale';
  export const cellSignOff = 'vaibify:cell-sign-off';
}

export const PANEL = 'vaibify-panel';

/** The plugin whose schema holds the settings. */
export const SETTINGS = 'vaibify-lab:panel';
