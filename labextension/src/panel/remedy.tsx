import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { IReason } from '../api/answers';
import { CommandIDs } from '../ids';
import { useContext, useReviewing } from '../look/hooks';
import { Action } from '../look/pieces';
import { brief, visible } from '../look/words';

interface IRemedy {
  label: string;
  command: string;
  args: ReadonlyPartialJSONObject;
}

/** The button that does what a remedy's command line would; null where only a person can. */
export function remedyOf(action: string, trans: TranslationBundle): IRemedy | null {
  const [, verb, rest] = /^jupyter vaibify ([a-z-]+)(?: ([\w.-]+))?$/.exec(action) ?? [];
  const remedy = (label: string, command: string, args = {}): IRemedy => ({ label, command, args });
  switch (verb) {
    case 'run':
      return rest
        ? remedy(trans.__('Run'), CommandIDs.run, { mode: 'steps', steps: [rest] })
        : remedy(trans.__('Run stale steps'), CommandIDs.run, { mode: 'stale' });
    case 'build':
      return rest ? null : remedy(trans.__('Build the image'), CommandIDs.build);
    case 'envelope':
      return rest ? null : remedy(trans.__('Write the envelope'), CommandIDs.envelope);
    case 'stop-run':
      return remedy(trans.__('Stop the run'), CommandIDs.stop);
    case 'acknowledge':
      return remedy(trans.__('Acknowledge'), CommandIDs.acknowledge, rest ? { step: rest } : {});
    default:
      return null;
  }
}

/** Reasons, each with what mends it. */
export function Reasons(props: { reasons: readonly IReason[]; className?: string }): JSX.Element {
  return (
    <ul className={props.className ?? 'vb-Reasons'}>
      {props.reasons.map((reason, index) => (
        <li key={index}>
          <Reason reason={reason} />
        </li>
      ))}
    </ul>
  );
}

function Reason(props: { reason: IReason }): JSX.Element {
  const { path, text, action } = props.reason;
  return (
    <>
      <span dir="auto">
        {path && <code>{brief(path)}</code>}
        {path && ': '}
        {brief(text, 2000)}
      </span>
      {action && <Remedy action={action} />}
    </>
  );
}

/** What mends it: a button where there is one, else the words. */
export function Remedy(props: { action: string }): JSX.Element {
  const { commands, trans } = useContext();
  const isReviewing = useReviewing();
  const remedy = isReviewing ? null : remedyOf(props.action, trans);
  if (!remedy) {
    return <code className="vb-Remedy">{visible(props.action)}</code>;
  }
  return (
    <Action
      title={props.action}
      className="vb-mod-small"
      onClick={() => void commands.execute(remedy.command, remedy.args)}
    >
      {remedy.label}
    </Action>
  );
}
