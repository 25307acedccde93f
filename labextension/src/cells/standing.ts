import type { TranslationBundle } from '@jupyterlab/translation';
import type { IStep } from '../api/answers';
import type { ICell } from '../api/cells';
import { isLive, lookOf, type ILook, type IStates } from '../look/states';
import { brief } from '../look/words';

/** A step cell as its badge shows it. */
export interface IShown {
  readonly cell: ICell;
  /** What is true of the step, as the panel has it. */
  readonly step: IStep | null;
  /** The text that was asked about; another one is not known yet. */
  readonly source: string;
  /** The names of edited cells that it rests on. */
  readonly behind: readonly string[];
  /** Why it is not known, where it is not. */
  readonly fault: string | null;
}

/** How a cell stands, in one word, and why. */
export interface IStanding {
  readonly look: ILook;
  readonly why: string;
  /** Whether it is the word about the step itself, so that its badges may stand beside it. */
  readonly isSteps: boolean;
}

/** Whether a cell says something else than what would run. */
export function isEdited(cell: ICell): boolean {
  return cell.state === 'cell' || cell.state === 'both';
}

/** One word for cell and step together: a green of the step is none of a cell that differs. */
export function standing(
  shown: IShown,
  isCurrent: boolean,
  table: IStates,
  trans: TranslationBundle
): IStanding {
  const { cell, step, behind, fault } = shown;
  if (fault !== null) {
    return { look: lookOf(table.run, 'unknown'), why: fault, isSteps: false };
  }
  if (!isCurrent) {
    const why = trans.__('The cell was edited just now.');
    return { look: table.cell.looking, why, isSteps: false };
  }
  if (step && isLive(step.run)) {
    return { look: lookOf(table.run, step.run), why: cell.text, isSteps: true };
  }
  if (isEdited(cell)) {
    return { look: lookOf(table.run, 'stale'), why: cell.text, isSteps: false };
  }
  if (!step || cell.state !== 'same') {
    return { look: lookOf(table.cell, cell.state), why: cell.text, isSteps: false };
  }
  if (behind.length) {
    const names = behind.map(name => brief(name, 60)).join(', ');
    const why = trans.__('Rests on cells that were edited: %1', names);
    return { look: lookOf(table.run, 'stale'), why, isSteps: false };
  }
  return { look: lookOf(table.run, step.run), why: '', isSteps: true };
}

/** The cells as they are shown: each with its step, and with the edited cells that it rests on. */
export function shownCells(
  found: readonly ICell[],
  sources: readonly string[],
  stepNow: (slug: string) => IStep | null
): Map<number, IShown> {
  const names = new Map(found.map(cell => [cell.slug, cell.name]));
  return new Map(
    found.map(cell => [
      cell.number,
      {
        cell,
        step: cell.report && (stepNow(cell.report.slug) ?? cell.report),
        source: sources[cell.number - 1],
        behind: cell.behind.map(slug => names.get(slug) ?? slug),
        fault: null
      }
    ])
  );
}
