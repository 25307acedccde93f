import * as React from 'react';
import { Mark } from './marks';
import type { ILook } from './states';

/** A state as shape, word and colour. */
export function Badge(props: { look: ILook; title?: string }): JSX.Element {
  return (
    <span className={`vb-Badge vb-tone-${props.look.tone}`} title={props.title}>
      <Mark shape={props.look.shape} />
      {props.look.label}
    </span>
  );
}

/** A button of the panel. */
export function Action(
  props: {
    primary?: boolean;
    children: React.ReactNode;
  } & React.ButtonHTMLAttributes<HTMLButtonElement>
): JSX.Element {
  const { primary, className, ...rest } = props;
  const classes = ['vb-Button', primary ? 'vb-mod-primary' : '', className ?? ''];
  return <button type="button" {...rest} className={classes.filter(Boolean).join(' ')} />;
}
