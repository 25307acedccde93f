import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { CommandIDs } from '../ids';
import type { IWaiting } from '../model/live';
import type { IVaibify } from '../tokens';
import { notMine, offer, type Args } from './offer';
import { told } from './told';

const STEP = { step: { type: 'string' } } as const;
const ENDING = { ...STEP, abandon: { type: 'boolean' } } as const;

/** A person at a step that waits: a terminal in it, and their word that it is done. */
export function addAttendCommands(
  commands: CommandRegistry,
  model: IVaibify,
  trans: TranslationBundle
): void {
  const found = (args: Args): [string, IWaiting] | null => which(args, model);
  const speak = async (
    args: Args,
    word: 'pause' | 'resume' | 'complete' | 'abandon'
  ): Promise<void> => {
    const [slug] = found(args) ?? [];
    const project = model.project.value;
    if (slug && project && (word !== 'abandon' || (await isSure(trans)))) {
      await told(trans, model.api.speak(project.id, slug, word));
      void model.status.again();
    }
  };
  const nobody = (args: Args): string | null => noWaiting(args, model, trans);
  const paused = (args: Args): string | null =>
    nobody(args) ?? (found(args)?.[1].isPaused ? trans.__('it is paused') : null);
  offer(commands, CommandIDs.terminal, {
    label: trans.__('Open a Terminal in the Waiting Step'),
    properties: STEP,
    hindrance: paused,
    execute: async args => {
      const [slug] = found(args) ?? [];
      const project = model.project.value;
      const made = slug && project && (await told(trans, model.api.openTerminal(project.id, slug)));
      if (made) {
        await told(trans, commands.execute('terminal:open', { name: made.name }));
      }
    }
  });
  offer(commands, CommandIDs.pause, {
    label: trans.__('Pause the Waiting Step'),
    properties: STEP,
    hindrance: paused,
    execute: args => speak(args, 'pause')
  });
  offer(commands, CommandIDs.resume, {
    label: trans.__('Resume the Paused Step'),
    properties: STEP,
    hindrance: args =>
      nobody(args) ?? (found(args)?.[1].isPaused ? null : trans.__('it is not paused')),
    execute: args => speak(args, 'resume')
  });
  offer(commands, CommandIDs.complete, {
    label: args =>
      args.abandon ? trans.__('Give Up the Waiting Step…') : trans.__('Complete the Waiting Step'),
    properties: ENDING,
    hindrance: nobody,
    execute: args => speak(args, args.abandon ? 'abandon' : 'complete')
  });
}

/** Why no step that waits is meant. */
function noWaiting(args: Args, model: IVaibify, trans: TranslationBundle): string | null {
  if (which(args, model)) {
    return null;
  }
  const several = model.live.waiting.value.size > 1 && typeof args.step !== 'string';
  return (
    notMine(model, trans) ??
    (several ? trans.__('several wait: open one') : trans.__('no step waits for you'))
  );
}

/** The step that is named, else the open one, else the only one; null when it does not wait. */
function which(args: Args, model: IVaibify): [string, IWaiting] | null {
  const all = model.live.waiting.value;
  const open = model.step.value ?? '';
  const only = all.size === 1 ? [...all.keys()][0] : '';
  const slug = typeof args.step === 'string' ? args.step : all.has(open) ? open : only;
  const waiting = all.get(slug);
  return waiting && !model.reviewing.value ? [slug, waiting] : null;
}

async function isSure(trans: TranslationBundle): Promise<boolean> {
  const answer = await showDialog({
    title: trans.__('Give the step up?'),
    body: trans.__('Its terminals end, and what was there before it began is put back.'),
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.warnButton({ label: trans.__('Give up') })
    ]
  });
  return answer.button.accept;
}
