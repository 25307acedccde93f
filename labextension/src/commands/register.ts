import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { IRunAsked } from '../api/answers';
import { CommandIDs } from '../ids';
import type { IVaibify } from '../tokens';
import { run, stop } from './running';
import { signOff } from './signOff';
import { told } from './told';

const STEPS = { type: 'array', items: { type: 'string' } } as const;
const STEP = { type: 'object', properties: { step: { type: 'string' } } } as const;

/** Running, stopping, vouching. */
export function addRunCommands(
  commands: CommandRegistry,
  model: IVaibify,
  trans: TranslationBundle
): void {
  const isIdle = (): boolean => {
    const status = model.status.value.value;
    return status !== null && status.current === null && !model.reviewing.value;
  };
  commands.addCommand(CommandIDs.run, {
    label: args => labelOf(asked(args), trans),
    describedBy: {
      args: {
        type: 'object',
        properties: {
          mode: { type: 'string', enum: ['stale', 'all', 'steps', 'only', 'from'] },
          steps: STEPS,
          tests_only: { type: 'boolean' }
        }
      }
    },
    isEnabled: args => {
      const { mode, steps } = asked(args);
      return isIdle() && (mode === 'stale' || mode === 'all' || Boolean(steps?.length));
    },
    execute: args => run(model, trans, asked(args))
  });
  commands.addCommand(CommandIDs.stop, {
    label: trans.__('Stop the Run'),
    describedBy: { args: { type: 'object', properties: {} } },
    isEnabled: () => !model.reviewing.value && Boolean(model.status.value.value?.current),
    execute: () => stop(model, trans)
  });
  commands.addCommand(CommandIDs.signOff, {
    label: trans.__('Sign Off the Open Step…'),
    describedBy: { args: STEP },
    isEnabled: args => !model.reviewing.value && Boolean(stepIn(args, model)),
    execute: args => signOff(model, trans, stepIn(args, model) ?? '')
  });
  commands.addCommand(CommandIDs.acknowledge, {
    label: trans.__('Acknowledge Failed and Interrupted Steps'),
    describedBy: { args: STEP },
    isEnabled: () => !model.reviewing.value && model.project.value !== null,
    execute: async args => {
      const project = model.project.value?.id ?? '';
      const steps = typeof args.step === 'string' ? [args.step] : undefined;
      await told(trans, model.api.acknowledge(project, steps));
      await model.status.again();
    }
  });
}

function stepIn(args: ReadonlyPartialJSONObject, model: IVaibify): string | null {
  return typeof args.step === 'string' ? args.step : model.step.value;
}

function asked(args: ReadonlyPartialJSONObject): IRunAsked {
  const { mode = 'stale', steps, tests_only } = args as IRunAsked;
  return { mode, ...(steps?.length && { steps }), ...(tests_only && { tests_only }) };
}

function labelOf(asked: IRunAsked, trans: TranslationBundle): string {
  if (asked.tests_only) {
    return asked.mode === 'all' ? trans.__('Run All Tests') : trans.__('Run the Tests');
  }
  const count = asked.steps?.length ?? 0;
  switch (asked.mode) {
    case 'all':
      return trans.__('Run All Steps');
    case 'from':
      return trans.__('Run from the Open Step On');
    case 'steps':
    case 'only':
      return trans._n('Run %1 Selected Step', 'Run %1 Selected Steps', count);
    default:
      return trans.__('Run Stale Steps');
  }
}
