import * as React from 'react';
import type { IStep } from '../api/answers';
import { useContext } from '../look/hooks';
import { Mark } from '../look/marks';
import { badges, lookOf, type IBadge } from '../look/states';
import { whyOf, whyRun } from '../look/why';
import { brief } from '../look/words';
import { toggled } from './steps';

interface IRowProps {
  id: string;
  step: IStep;
  position: number;
  count: number;
  top: number;
  isActive: boolean;
  isOpen: boolean;
  isMarked: boolean;
}

/** One step: how its run stands, its name, its badges. */
export const Row = React.memo(function Row(props: IRowProps): JSX.Element {
  const { model, trans, table } = useContext();
  const { step } = props;
  const name = brief(step.name);
  const run = lookOf(table.run, step.run);
  const all = badges(step, table, trans);
  const onClick = (event: React.MouseEvent): void => {
    if (event.ctrlKey || event.metaKey) {
      model.marked.set(toggled(model.marked.value, step.slug));
    } else {
      model.step.set(step.slug);
    }
  };
  const classes = ['vb-Row'];
  classes.push(...(props.isActive ? ['vb-mod-active'] : []));
  classes.push(...(props.isOpen ? ['vb-mod-open'] : []));
  classes.push(...(step.enabled ? [] : ['vb-mod-disabled']));
  return (
    <div
      id={props.id}
      role="option"
      className={classes.join(' ')}
      style={{ transform: `translateY(${props.top}px)` }}
      aria-selected={props.isMarked}
      aria-current={props.isOpen || undefined}
      aria-posinset={props.position}
      aria-setsize={props.count}
      aria-label={[name, run.label, ...all.map(spoken)].join(', ')}
      onClick={onClick}
    >
      <span
        className={`vb-Row-run vb-tone-${run.tone}`}
        title={whyRun(step, run.label, all, trans)}
      >
        <Mark shape={run.shape} />
      </span>
      <span className="vb-Row-name" dir="auto" title={name}>
        {name}
      </span>
      <Kind kind={step.kind} />
      {all.map(badge => (
        <span
          key={badge.letter}
          className={`vb-Row-badge vb-tone-${badge.look.tone}`}
          title={whyOf(step, badge, trans)}
        >
          {badge.letter}
          <Mark shape={badge.look.shape} />
        </span>
      ))}
    </div>
  );
});

function Kind(props: { kind: string }): JSX.Element | null {
  return props.kind === 'script' ? null : (
    <span className="vb-Row-kind" title={brief(props.kind, 20)}>
      {brief(props.kind, 20)}
    </span>
  );
}

function spoken(badge: IBadge): string {
  return `${badge.name}: ${badge.look.label}`;
}
