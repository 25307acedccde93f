import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { LabIcon } from '@jupyterlab/ui-components';
import type { ReadonlyJSONObject, ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { IVaibify } from '../tokens';

export type Args = ReadonlyPartialJSONObject;

/** A command as a person meets it. */
export interface IOffer {
  readonly label: string | ((args: Args) => string);
  readonly icon?: LabIcon;
  /** The arguments, as a JSON schema has them. */
  readonly properties?: ReadonlyJSONObject;
  /** Why it cannot be used now; null when it can. */
  readonly hindrance?: (args: Args) => string | null;
  readonly execute: (args: Args) => unknown;
}

/** Add a command; where it cannot be used its label says why, in menus and in the palette. */
export function offer(commands: CommandRegistry, id: string, what: IOffer): void {
  const { label, icon, execute, properties = {} } = what;
  const why = (args: Args): string | null => what.hindrance?.(args) ?? null;
  commands.addCommand(id, {
    label: args => {
      const name = typeof label === 'string' ? label : label(args);
      const reason = why(args);
      return reason ? `${name} (${reason})` : name;
    },
    icon,
    describedBy: { args: { type: 'object', properties } },
    isEnabled: args => why(args) === null,
    execute
  });
}

/** That no project is open. */
export function noProject(model: IVaibify, trans: TranslationBundle): string | null {
  return model.project.value ? null : trans.__('no project is open');
}

/** That no project is open, or that the person is here to review it: then nothing is recorded. */
export function notMine(model: IVaibify, trans: TranslationBundle): string | null {
  const reviewing = model.reviewing.value ? trans.__('not in reviewer mode') : null;
  return reviewing ?? noProject(model, trans);
}
