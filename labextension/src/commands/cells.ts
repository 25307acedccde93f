import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { Book } from '../cells/book';
import { isEdited, type IShown } from '../cells/standing';
import { CommandIDs } from '../ids';
import type { IVaibify } from '../tokens';
import { offer, type Args } from './offer';
import { told } from './told';

const NUMBER = { number: { type: 'number' } } as const;

/** What a person asks for at a cell: that of a number, else the active one. */
export function addCellCommands(
  commands: CommandRegistry,
  model: IVaibify,
  trans: TranslationBundle,
  current: () => Book | null
): void {
  const shown = (args: Args): IShown | null =>
    current()?.at(typeof args.number === 'number' ? args.number : null) ?? null;
  const noCell = (args: Args): string | null =>
    shown(args)?.cell.slug ? null : trans.__('no step cell is active');
  const noStep = (args: Args): string | null =>
    noCell(args) ?? (shown(args)?.step ? null : trans.__('there is no such step yet'));
  const reviewing = (): string | null =>
    model.reviewing.value ? trans.__('not in reviewer mode') : null;
  offer(commands, CommandIDs.cellStep, {
    label: trans.__('Show the Step of This Cell'),
    properties: NUMBER,
    hindrance: noStep,
    execute: async args => {
      open(model, current());
      model.step.set(shown(args)?.step?.slug ?? null);
      await commands.execute(CommandIDs.open);
    }
  });
  offer(commands, CommandIDs.cellRun, {
    label: trans.__('Run the Step of This Cell'),
    properties: NUMBER,
    hindrance: args => reviewing() ?? noCell(args),
    execute: async args => {
      const { cell } = shown(args) ?? {};
      const book = current();
      if (book && cell?.slug) {
        const slugs = [cell.slug, ...cell.behind];
        if (await written(book, model, trans, one => slugs.includes(one.cell.slug ?? ''))) {
          await commands.execute(CommandIDs.run, { mode: 'steps', steps: [cell.slug] });
        }
      }
    }
  });
  offer(commands, CommandIDs.cellsRunStale, {
    label: trans.__('Write Edited Cells and Run Stale Steps'),
    hindrance: () =>
      reviewing() ?? (current()?.cells.length ? null : trans.__('no step cell in the notebook')),
    execute: async () => {
      const book = current();
      if (book && (await written(book, model, trans, () => true))) {
        await commands.execute(CommandIDs.run, { mode: 'stale' });
      }
    }
  });
  offer(commands, CommandIDs.cellSignOff, {
    label: trans.__('Sign Off the Step of This Cell…'),
    properties: NUMBER,
    hindrance: args => reviewing() ?? noStep(args) ?? unlike(shown(args), trans),
    execute: async args => {
      open(model, current());
      await commands.execute(CommandIDs.signOff, { step: shown(args)?.step?.slug ?? '' });
    }
  });
}

/** That what the cell says is not what the step ran: nobody signs off the one for the other. */
function unlike(shown: IShown | null, trans: TranslationBundle): string | null {
  return shown?.cell.state === 'same' ? null : trans.__('the cell differs from its step');
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
