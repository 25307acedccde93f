import { Dialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { INewStep } from '../api/cells';
import { asRefusal } from '../api/connection';
import { MAGIC, type Book } from '../cells/book';
import { StepBody } from '../cells/stepBody';
import { vaibifyIcon } from '../icon';
import { CommandIDs } from '../ids';
import type { IVaibify } from '../tokens';
import { AskingDialog } from './asking';
import { offer } from './offer';
import { complain, sentence, told } from './told';

/** Making the active cell a step. */
export function addMakeCommand(
  commands: CommandRegistry,
  model: IVaibify,
  trans: TranslationBundle,
  current: () => Book | null
): void {
  offer(commands, CommandIDs.cellMake, {
    label: trans.__('Make This Cell a Step…'),
    icon: vaibifyIcon,
    hindrance: () =>
      model.reviewing.value ? trans.__('not in reviewer mode') : whyNot(current(), trans),
    execute: async () => {
      const book = current();
      if (book) {
        await make(book, model, trans);
      }
    }
  });
}

/** Why the active cell cannot become a step. */
function whyNot(book: Book | null, trans: TranslationBundle): string | null {
  const cell = book?.panel.content.activeCell;
  if (!book || !cell || cell.model.type !== 'code') {
    return trans.__('no code cell is active');
  }
  const source = cell.model.sharedModel.getSource().trimStart();
  if (book.at(null) || source.startsWith(MAGIC)) {
    return trans.__('it is a step');
  }
  if (!book.project) {
    return trans.__('the notebook lies in no project');
  }
  if (!book.isPython) {
    return trans.__('its kernel is not Python');
  }
  if (source.startsWith('%%')) {
    return trans.__('it begins with another magic');
  }
  if (!source) {
    return trans.__('it is empty');
  }
  return cell.model.getMetadata('editable') === false ? trans.__('it cannot be edited') : null;
}

/** Propose the step, let the person decide, write it down, and give the cell its line. */
async function make(book: Book, model: IVaibify, trans: TranslationBundle): Promise<void> {
  const at = {
    book,
    project: book.project?.id ?? '',
    id: book.panel.content.activeCell?.model.id ?? ''
  };
  const asked = {
    source: book.source(at.id) ?? '',
    above: book.above(at.id),
    notebook: book.place
  };
  const found = await told(trans, model.api.proposeStep(at.project, asked));
  if (!found) {
    return;
  }
  if (!found.proposal) {
    complain(trans, { text: trans.__('The cell holds no plain Python code.') }, 'warning');
    return;
  }
  const body = new StepBody(trans, found.proposal, hint(book, trans));
  const submit = async (): Promise<boolean> => {
    const step = body.step();
    return step !== null && made(at, model, trans, body, step);
  };
  const dialog = new AskingDialog(
    {
      title: trans.__('Make this cell a step'),
      body,
      focusNodeSelector: 'input',
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.okButton({ label: trans.__('Make it a step') })
      ]
    },
    submit
  );
  await dialog.launch();
}

/** That the cell could not be run by itself yet. */
function hint(book: Book, trans: TranslationBundle): string {
  const isLoaded = book.sources.some(source => LOADS.test(source));
  const text = trans.__('To run it as a cell, the notebook needs %1 in a cell before it.', LOAD);
  return isLoaded ? '' : text;
}

const LOAD = '%load_ext vaibify_lab';
const LOADS = /^\s*%(re)?load_ext +vaibify_lab\b/m;

/** Which cell: a moved one keeps its id. */
interface IPlace {
  readonly book: Book;
  readonly project: string;
  readonly id: string;
}

/** Whether the step is there and the cell has its line; else the dialog says why not. */
async function made(
  at: IPlace,
  model: IVaibify,
  trans: TranslationBundle,
  body: StepBody,
  step: INewStep
): Promise<boolean> {
  const source = at.book.source(at.id);
  if (source === null) {
    body.complain(trans.__('The cell is no longer in the notebook. Nothing was written.'));
    return false;
  }
  try {
    const { line } = await model.api.makeStep(at.project, source, step);
    if (!at.book.begin(at.id, line)) {
      const text = trans.__('The step is made, and its cell is gone from the notebook.');
      complain(trans, { text, action: line }, 'warning');
    }
    void model.status.again();
    return true;
  } catch (error) {
    body.complain(sentence(asRefusal(error)));
    return false;
  }
}
