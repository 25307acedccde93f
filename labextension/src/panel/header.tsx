import { caretDownIcon, refreshIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { CommandIDs } from '../ids';
import { useContext, useReviewing, useStore } from '../look/hooks';
import { Action } from '../look/pieces';
import { brief } from '../look/words';
import { Announcer } from './announcer';
import { EngineMark } from './engine';
import { Ladder } from './ladder';
import { Progress } from './progress';
import { runMenu } from './runMenu';
import { Trouble } from './trouble';

/** Which project, how far it is verified, and what can be done with it. */
export function Header(): JSX.Element | null {
  const { model } = useContext();
  const project = useStore(model.project);
  const isReviewing = useReviewing();
  return (
    <>
      <Announcer />
      {project && (
        <div className="vb-Header">
          <Picker />
          <Trouble />
          <Ladder />
          <EngineMark />
          {isReviewing ? <Reviewing /> : <Buttons />}
          <Progress />
        </div>
      )}
    </>
  );
}

function Picker(): JSX.Element {
  const { model, commands, trans } = useContext();
  const open = useStore(model.project);
  const projects = useStore(model.projects)?.projects ?? [];
  return (
    <div className="vb-Picker">
      {projects.length > 1 ? (
        <select
          className="vb-Picker-select"
          aria-label={trans.__('Workflow')}
          value={open?.id}
          onFocus={() => void model.find()}
          onChange={event =>
            model.open(projects.find(one => one.id === event.target.value) ?? null)
          }
        >
          {projects.map(one => (
            <option key={one.id} value={one.id}>
              {brief(`${one.name} (${one.contents || '/'}: ${one.workflow})`, 120)}
            </option>
          ))}
        </select>
      ) : (
        <h2 title={open ? brief(`${open.root}/${open.workflow}`) : undefined} dir="auto">
          {brief(open?.name ?? '', 120)}
        </h2>
      )}
      <button
        type="button"
        className="vb-IconButton"
        aria-label={trans.__('Look again')}
        title={trans.__('Look again')}
        onClick={() => void commands.execute(CommandIDs.refresh)}
      >
        <refreshIcon.react tag="span" />
      </button>
    </div>
  );
}

function Reviewing(): JSX.Element {
  const { trans } = useContext();
  return (
    <p className="vb-Reviewing">
      <strong>{trans.__('Reviewer mode')}</strong> {trans.__('Nothing is recorded in the project.')}
    </p>
  );
}

function Buttons(): JSX.Element {
  const context = useContext();
  const { commands, trans, model } = context;
  const isRunning = useStore(model.status.value, status => Boolean(status?.current));
  const isIdle = useStore(model.status.value, status => status !== null && !status.current);
  return (
    <div className="vb-Buttons" role="group" aria-label={trans.__('Actions')}>
      <span className="vb-Split">
        <Action
          primary
          disabled={!isIdle}
          title={trans.__('Run what is new or no longer current')}
          onClick={() => void commands.execute(CommandIDs.run, { mode: 'stale' })}
        >
          {trans.__('Run')}
        </Action>
        <Action
          primary
          disabled={!isIdle}
          className="vb-Split-more"
          aria-haspopup="menu"
          aria-label={trans.__('More ways to run')}
          title={trans.__('More ways to run')}
          onClick={event => runMenu(context, event.currentTarget)}
        >
          <caretDownIcon.react tag="span" />
        </Action>
      </span>
      <Action disabled={!isRunning} onClick={() => void commands.execute(CommandIDs.stop)}>
        {trans.__('Stop')}
      </Action>
      <Action
        disabled={!isIdle}
        title={trans.__('Write MANIFEST.sha256, requirements.lock and environment.json')}
        onClick={() => void commands.execute(CommandIDs.envelope)}
      >
        {trans.__('Archive')}
      </Action>
    </div>
  );
}
