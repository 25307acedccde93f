import * as React from 'react';
import { CommandIDs } from '../ids';
import { useContext, useStore } from '../look/hooks';
import { Action } from '../look/pieces';
import { Empty } from './empty';
import { Steps } from './steps';

/** The steps, or what to do where there are none. */
export function StepsSection(): JSX.Element {
  const { model } = useContext();
  const project = useStore(model.project);
  const count = useStore(model.status.value, status => status?.steps.length ?? null);
  if (!project) {
    return <Empty />;
  }
  return count === 0 ? <NoSteps workflow={project.workflow} /> : <Steps />;
}

const EXAMPLE = `{
  "sName": "Fit",
  "saDataCommands": ["python fit.py data/raw.csv results/fit.json"],
  "saInputDataFiles": ["data/raw.csv"],
  "saDataFiles": ["results/fit.json"]
}`;

function NoSteps(props: { workflow: string }): JSX.Element {
  const { commands, trans } = useContext();
  return (
    <div className="vb-Empty">
      <h3>{trans.__('No steps yet')}</h3>
      <p>
        {trans.__('Steps are listed in the workflow file, below "listSteps". One looks like this:')}
      </p>
      <pre tabIndex={0}>{EXAMPLE}</pre>
      <Action
        primary
        onClick={() => void commands.execute(CommandIDs.openFile, { path: props.workflow })}
      >
        {trans.__('Open the workflow file')}
      </Action>
    </div>
  );
}
