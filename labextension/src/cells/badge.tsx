import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import { CommandIDs } from '../ids';
import { Context, useContext, useReviewing, useStore, type IContext } from '../look/hooks';
import { Mark } from '../look/marks';
import { Action } from '../look/pieces';
import { badges, isLive } from '../look/states';
import { whyOf, whyRun } from '../look/why';
import { brief } from '../look/words';
import { Store } from '../model/store';
import { More } from './more';
import { standing, type IShown, type IStanding } from './standing';

/** The badge of a step cell, drawn above its code; the notebook itself holds nothing of it. */
export class CellBadge extends ReactWidget {
  readonly shown: Store<IShown>;
  /** Whether what is shown is about the cell's text as it is now. */
  readonly isCurrent = new Store(true);

  constructor(
    private readonly context: IContext,
    shown: IShown
  ) {
    super();
    this.shown = new Store(shown);
    this.addClass('vb-CellBadge');
  }

  protected render(): JSX.Element {
    return (
      <Context.Provider value={this.context}>
        <Body badge={this} />
      </Context.Provider>
    );
  }
}

/** Keys and clicks in a badge are its own: the notebook would take the focus away at each. */
function own(event: React.SyntheticEvent): void {
  event.stopPropagation();
}

function Body(props: { badge: CellBadge }): JSX.Element {
  const { trans, table } = useContext();
  const shown = useStore(props.badge.shown);
  const isCurrent = useStore(props.badge.isCurrent);
  const [isOpen, setOpen] = React.useState(false);
  const id = React.useId();
  const { cell } = shown;
  const name = brief(cell.name ?? trans.__('no step'), 80);
  const stands = standing(shown, isCurrent, table, trans);
  const hasMore = Boolean(stands.why || cell.text || cell.diff || cell.names.length);
  return (
    <div
      role="group"
      className={`vb-Cell vb-tone-${stands.look.tone}`}
      aria-label={trans.__('Step of this cell: %1', name)}
      onKeyDown={own}
      onMouseDown={own}
      onMouseUp={own}
    >
      <div className="vb-Cell-line">
        <Name shown={shown} name={name} stands={stands} />
        {hasMore && (
          <Action
            data-lm-suppress-shortcuts="true"
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => setOpen(!isOpen)}
          >
            {cell.diff ? trans.__('Differences') : trans.__('Why')}
          </Action>
        )}
        <Doings shown={shown} name={name} />
      </div>
      <div id={id} hidden={!(hasMore && isOpen)}>
        {hasMore && isOpen && <More cell={cell} why={stands.why} />}
      </div>
    </div>
  );
}

function Name(props: { shown: IShown; name: string; stands: IStanding }): JSX.Element {
  const { trans, table, commands } = useContext();
  const { name, stands, shown } = props;
  const { look, isSteps, why } = stands;
  const all = shown.step ? badges(shown.step, table, trans) : [];
  const drawn = isSteps ? all : [];
  const spoken = drawn.map(badge => `${badge.name}: ${badge.look.label}`);
  const title =
    shown.step && isSteps && !why ? whyRun(shown.step, look.label, all, trans) : brief(why);
  return (
    <button
      type="button"
      className="vb-Cell-name"
      data-lm-suppress-shortcuts="true"
      aria-label={[name, look.label, ...spoken].join(', ')}
      title={title}
      disabled={!shown.step}
      onClick={() => void commands.execute(CommandIDs.cellStep, at(shown))}
    >
      <Mark shape={look.shape} />
      <span dir="auto">{name}</span>
      <span className="vb-Cell-word">{look.label}</span>
      {drawn.map(badge => (
        <span
          key={badge.letter}
          className={`vb-Row-badge vb-tone-${badge.look.tone}`}
          title={shown.step ? whyOf(shown.step, badge, trans) : ''}
        >
          {badge.letter}
          <Mark shape={badge.look.shape} />
        </span>
      ))}
    </button>
  );
}

function Doings(props: { shown: IShown; name: string }): JSX.Element | null {
  const { trans, commands } = useContext();
  const isReviewing = useReviewing();
  const { cell, step } = props.shown;
  if (isReviewing || cell.slug === null) {
    return null;
  }
  const button = (command: string, text: string, spoken: string, isOff: boolean): JSX.Element => (
    <Action
      data-lm-suppress-shortcuts="true"
      aria-label={spoken}
      disabled={isOff}
      onClick={() => void commands.execute(command, at(props.shown))}
    >
      {text}
    </Action>
  );
  const run = trans.__('Run step %1', props.name);
  const sign = trans.__('Sign off %1', props.name);
  return (
    <span className="vb-Cell-doings">
      {button(CommandIDs.cellRun, trans.__('Run step'), run, Boolean(step && isLive(step.run)))}
      {step && button(CommandIDs.cellSignOff, trans.__('Sign off…'), sign, cell.state !== 'same')}
    </span>
  );
}

function at(shown: IShown): { number: number } {
  return { number: shown.cell.number };
}
