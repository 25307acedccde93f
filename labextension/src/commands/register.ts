import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { IRunAsked } from '../api/answers';
import { CommandIDs } from '../ids';
import type { IVaibify } from '../tokens';
import { notMine, offer, type Args } from './offer';
import { run, stop } from './running';
import { signOff } from './signOff';
import { told } from './told';

const STEP = { step: { type: 'string' } } as const;
const RUN = {
  mode: { type: 'string', enum: ['stale', 'all', 'steps', 'only', 'from'] },
  steps: { type: 'array', items: { type: 'string' } },
  tests_only: { type: 'boolean' }
} as const;

/** Running, stopping, vouching. */
export function addRunCommands(
  commands: CommandRegistry,
  model: IVaibify,
  trans: TranslationBundle
): void {
  const hindrance = (): string | null => notMine(model, trans);
  offer(commands, CommandIDs.run, {
    label: args => labelOf(asked(args), trans),
    properties: RUN,
    hindrance: args => hindrance() ?? noRun(asked(args), model, trans),
    execute: args => run(model, trans, asked(args))
  });
  offer(commands, CommandIDs.stop, {
    label: trans.__('Stop the Run'),
    hindrance: () =>
      hindrance() ?? (model.status.value.value?.current ? null : trans.__('no run is in progress')),
    execute: () => stop(model, trans)
  });
  offer(commands, CommandIDs.signOff, {
    label: trans.__('Sign Off the Open Step…'),
    properties: STEP,
    hindrance: args => hindrance() ?? (stepIn(args, model) ? null : trans.__('no step is open')),
    execute: args => signOff(model, trans, stepIn(args, model) ?? '')
  });
  offer(commands, CommandIDs.acknowledge, {
    label: trans.__('Acknowledge Failed and Interrupted Steps'),
    properties: STEP,
    hindrance,
    execute: async args => {
      const project = model.project.value?.id ?? '';
      const steps = typeof args.step === 'string' ? [args.step] : undefined;
      await told(trans, model.api.acknowledge(project, steps));
      await model.status.again();
    }
  });
}

/** Why no such run can begin. */
function noRun(asked: IRunAsked, model: IVaibify, trans: TranslationBundle): string | null {
  const status = model.status.value.value;
  if (!status) {
    return trans.__('the project could not be read');
  }
  if (status.current) {
    return trans.__('a run is in progress');
  }
  if (asked.mode === 'stale' || asked.mode === 'all' || asked.steps?.length) {
    return null;
  }
  return asked.mode === 'from' ? trans.__('no step is open') : trans.__('no step is selected');
}

function stepIn(args: Args, model: IVaibify): string | null {
  return typeof args.step === 'string' ? args.step : model.step.value;
}

function asked(args: Args): IRunAsked {
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
