import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { Book } from '../cells/book';
import { isEdited, type IShown } from '../cells/standing';
import { CommandIDs } from '../ids';
import type { IVaibify } from '../tokens';
import { told } from './told';

const NUMBER = { type: 'object', properties: { number: { type: 'number' } } } as const;
const NONE = { type: 'object', properties: {} } as const;

/** What a person asks for at a cell: that of a number, else the active one. */
export function addCellCommands(
  commands: CommandRegistry,
  model: IVaibify,
  trans: TranslationBundle,
  current: () => Book | null
): void {
  const shown = (args: ReadonlyPartialJSONObject): IShown | null =>
    current()?.at(typeof args.number === 'number' ? args.number : null) ?? null;
  const mine = (): boolean => current() !== null && !model.reviewing.value;
  commands.addCommand(CommandIDs.cellStep, {
    label: trans.__('Show the Step of This Cell'),
    describedBy: { args: NUMBER },
    isEnabled: args => Boolean(shown(args)?.step),
    execute: async args => {
      open(model, current());
      model.step.set(shown(args)?.step?.slug ?? null);
      await commands.execute(CommandIDs.open);
    }
  });
  commands.addCommand(CommandIDs.cellRun, {
    label: trans.__('Run the Step of This Cell'),
    describedBy: { args: NUMBER },
    isEnabled: args => mine() && Boolean(shown(args)?.cell.slug),
    execute: async args => {
      const { cell } = shown(args) ?? {};
      const book = current();
      if (book && cell?.slug) {
        const slugs = [cell.slug, ...cell.rests_on];
        if (await written(book, model, trans, one => slugs.includes(one.cell.slug ?? ''))) {
          await commands.execute(CommandIDs.run, { mode: 'steps', steps: [cell.slug] });
        }
      }
    }
  });
  commands.addCommand(CommandIDs.cellsRunStale, {
    label: trans.__('Write Edited Cells and Run Stale Steps'),
    describedBy: { args: NONE },
    isEnabled: () => mine() && Boolean(current()?.cells.length),
    execute: async () => {
      const book = current();
      if (book && (await written(book, model, trans, () => true))) {
        await commands.execute(CommandIDs.run, { mode: 'stale' });
      }
    }
  });
  commands.addCommand(CommandIDs.cellSignOff, {
    label: trans.__('Sign Off the Step of This Cell…'),
    describedBy: { args: NUMBER },
    isEnabled: args => mine() && Boolean(shown(args)?.step),
    execute: async args => {
      open(model, current());
      await commands.execute(CommandIDs.signOff, { step: shown(args)?.step?.slug ?? '' });
    }
  });
}

function open(model: IVaibify, book: Book | null): void {
  if (book?.project && book.project.id !== model.project.value?.id) {
    model.open(book.project);
  }
}

/** Write those edited or new cells down that a run is about; false when one was refused. */
async function written(
  book: Book,
  model: IVaibify,
  trans: TranslationBundle,
  isMeant: (shown: IShown) => boolean
): Promise<boolean> {
  open(model, book);
  await book.look();
  const project = book.project?.id ?? '';
  const todo = book.cells.filter(
    one => isMeant(one) && (isEdited(one.cell) || one.cell.state === 'new')
  );
  for (const { source } of todo) {
    if (!(await told(trans, model.api.declareCell(project, source)))) {
      return false;
    }
  }
  return true;
}
