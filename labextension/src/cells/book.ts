import type { Cell } from '@jupyterlab/cells';
import { PathExt } from '@jupyterlab/coreutils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import { Signal } from '@lumino/signaling';
import type { PanelLayout } from '@lumino/widgets';
import type { IProject, IStep } from '../api/answers';
import { asRefusal } from '../api/connection';
import type { ICell } from '../api/cells';
import { CommandIDs } from '../ids';
import type { IContext } from '../look/hooks';
import { kept } from '../model/status';
import { CellBadge } from './badge';
import { shownCells, type IShown } from './standing';
import { projectOf } from './where';

const WAIT = 400;
const AT_ONCE = 25; // of 500 badges drawn in one task the page would feel it
export const MAGIC = '%%vaibify';
const STEP = 'vb-mod-step';

/** The badges of one open notebook. */
export class Book implements IDisposable {
  constructor(
    readonly panel: NotebookPanel,
    private readonly context: IContext,
    private readonly path: () => string | null
  ) {
    const { model } = context;
    const soon = (): void => void this.soon.invoke();
    const again = (): void => {
      this.due = true;
      this.draw();
      soon();
    };
    panel.content.modelContentChanged.connect(() => {
      this.draw();
      soon();
    }, this);
    panel.context.pathChanged.connect(again, this);
    model.status.value.changed.connect(again, this);
    model.projects.changed.connect(again, this);
    model.project.changed.connect(again, this);
    panel.disposed.connect(() => this.dispose(), this);
    void panel.context.ready.then(soon);
  }

  isDisposed = false;

  dispose(): void {
    if (!this.isDisposed) {
      this.isDisposed = true;
      this.soon.dispose();
      this.turn.dispose();
      Signal.clearData(this);
    }
  }

  /** The project that the notebook lies in. */
  get project(): IProject | null {
    const { project, projects } = this.context.model;
    const path = this.path();
    return path === null ? null : projectOf(path, projects.value?.projects ?? [], project.value);
  }

  /** The notebook's path in the repository of its project. */
  get place(): string {
    return PathExt.relative(this.project?.contents ?? '', this.path() ?? '');
  }

  /** What is known of a cell: that of this number, or the active one. */
  at(number: number | null): IShown | null {
    const cell =
      number === null ? this.panel.content.activeCell : this.panel.content.widgets[number - 1];
    return (cell && this.known.get(cell.model.id)) ?? null;
  }

  /** All step cells, in order. */
  get cells(): IShown[] {
    return this.panel.content.widgets.flatMap(cell => this.known.get(cell.model.id) ?? []);
  }

  /** The texts of its cells, in order; of those that are not code none. */
  get sources(): string[] {
    return this.panel.content.widgets.map(sourceOf);
  }

  /** Whether its kernels have the magics, as far as the notebook says. */
  get isPython(): boolean {
    const language = this.panel.content.model?.defaultKernelLanguage ?? '';
    return !language || language.toLowerCase() === 'python';
  }

  /** The text of the cell of that id; null when it is gone. */
  source(id: string): string | null {
    const cell = this.find(id);
    return cell ? sourceOf(cell) : null;
  }

  /** The nearest Markdown above a cell. */
  above(id: string): string {
    const widgets = this.panel.content.widgets;
    const before = widgets.slice(
      0,
      Math.max(
        0,
        widgets.findIndex(one => one.model.id === id)
      )
    );
    const nearest = before.reverse().find(one => one.model.type === 'markdown');
    return nearest?.model.sharedModel.getSource() ?? '';
  }

  /** Put a line above a cell's text, as an edit that can be undone; false when the cell is gone. */
  begin(id: string, line: string): boolean {
    const cell = this.find(id);
    cell?.model.sharedModel.updateSource(0, 0, `${line}\n`);
    return cell !== null;
  }

  /** Ask how the cells stand, unless that is known. */
  async look(): Promise<void> {
    this.context.commands.notifyCommandChanged(CommandIDs.cellMake);
    this.draw(); // a change is told before the cells that it brings are there
    const widgets = this.panel.content.widgets;
    const ids = widgets.map(cell => cell.model.id);
    const { sources } = this;
    const project = sources.some(source => source.includes(MAGIC)) ? this.project : null;
    const key = JSON.stringify([project?.id, ids, sources]);
    if (this.isDisposed || (key === this.key && !this.due)) {
      return;
    }
    this.key = key;
    this.due = false;
    const asked = (this.asked += 1);
    try {
      const found = project ? await this.ask(project.id, ids, sources) : [];
      if (asked === this.asked) {
        this.take(found, ids, sources);
      }
    } catch (error) {
      if (asked === this.asked) {
        this.key = '';
        this.doubt(asRefusal(error).text);
      }
    }
  }

  private find(id: string): Cell | null {
    const { isDisposed, content } = this.panel;
    return (!isDisposed && content.widgets.find(one => one.model.id === id)) || null;
  }

  private async ask(project: string, ids: string[], sources: string[]): Promise<ICell[]> {
    const language = this.panel.content.model?.defaultKernelLanguage;
    const cells = ids.map((id, index) => ({ id, source: sources[index] }));
    const { api } = this.context.model;
    return (await api.cells(project, { ...(language && { language }), cells })).cells;
  }

  private take(found: readonly ICell[], ids: readonly string[], sources: readonly string[]): void {
    const steps = this.stepsNow();
    const shown = shownCells(found, sources, slug => steps.get(slug) ?? null);
    const before = this.known;
    this.known = new Map(
      [...shown].map(([number, one]) => {
        const id = ids[number - 1];
        return [id, kept(before.get(id), one)];
      })
    );
    this.draw();
  }

  /** What was known may be old. */
  private doubt(fault: string): void {
    this.known = new Map([...this.known].map(([id, shown]) => [id, { ...shown, fault }]));
    this.draw();
  }

  /** The steps as the panel has them, where the panel shows this project, by slug. */
  private stepsNow(): ReadonlyMap<string, IStep> {
    const { status, project } = this.context.model;
    const isShown = project.value?.id === this.project?.id;
    const steps = (isShown && status.value.value?.steps) || [];
    return new Map(steps.map(step => [step.slug, step]));
  }

  /** Give each step cell its badge; a cell that was moved is another widget with the same id. */
  private draw(): void {
    if (this.isDisposed) {
      return;
    }
    const steps = this.stepsNow();
    for (const cell of this.panel.content.widgets) {
      const shown = this.known.get(cell.model.id);
      const badge = this.drawn.get(cell);
      if (!shown) {
        badge?.dispose();
        cell.removeClass(STEP);
        this.drawn.delete(cell);
        continue;
      }
      const step = (shown.cell.report && steps.get(shown.cell.report.slug)) ?? shown.step;
      const now = step === shown.step ? shown : { ...shown, step };
      this.known.set(cell.model.id, now);
      badge?.isCurrent.set(sourceOf(cell) === badge.shown.value.source);
      if (badge?.shown.value !== now) {
        this.late.add(cell);
      }
    }
    this.dress();
  }

  /** Draw what changed at a few cells, and at the others when the page has had its turn. */
  private dress(): void {
    for (const cell of [...this.late].slice(0, AT_ONCE)) {
      this.late.delete(cell);
      const shown = this.known.get(cell.model?.id);
      if (shown && !cell.isDisposed) {
        const badge = this.drawn.get(cell) ?? this.put(cell, shown);
        badge.shown.set(shown);
        badge.isCurrent.set(sourceOf(cell) === shown.source);
      }
    }
    if (this.late.size && !this.isDisposed) {
      void this.turn.invoke();
    }
  }

  private put(cell: Cell, shown: IShown): CellBadge {
    const badge = new CellBadge(this.context, shown);
    this.drawn.set(cell, badge);
    cell.addClass(STEP);
    void cell.ready.then(() => {
      if (!badge.isDisposed && !cell.isDisposed) {
        (cell.layout as PanelLayout).insertWidget(0, badge);
      }
    });
    return badge;
  }

  private known = new Map<string, IShown>();
  private readonly drawn = new WeakMap<Cell, CellBadge>();
  private readonly late = new Set<Cell>();
  private readonly turn = new Debouncer(() => this.dress(), 0);
  private readonly soon = new Debouncer(() => this.look(), WAIT);
  private key = '';
  private due = false;
  private asked = 0;
}

function sourceOf(cell: Cell): string {
  return cell.model.type === 'code' ? cell.model.sharedModel.getSource() : '';
}
