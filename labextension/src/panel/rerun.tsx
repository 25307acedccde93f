import * as React from 'react';
import type { IRerun } from '../api/answers';
import { CommandIDs } from '../ids';
import { useContext, useStore } from '../look/hooks';
import { Action, Badge } from '../look/pieces';
import { lookOf } from '../look/states';
import { brief } from '../look/words';

const MOST = 50;

/** The button that runs a step again on a copy. */
export function RerunButton(props: { slug: string }): JSX.Element {
  const { commands, model, trans } = useContext();
  const isRunning = useStore(model.jobs.all, all => all.get('rerun')?.state === 'running');
  return (
    <Action
      primary
      disabled={isRunning}
      title={trans.__('Run the step on a copy of the project and compare what it writes')}
      onClick={() => void commands.execute(CommandIDs.rerun, { step: props.slug })}
    >
      {trans.__('Rerun and compare')}
    </Action>
  );
}

/** What a rerun came to: every output that is not identical, and where it ran. */
export function Rerun(props: { result: IRerun }): JSX.Element {
  const { table, trans } = useContext();
  const { outputs, problems, engine, in_container: contained } = props.result;
  const differing = outputs.filter(one => one.verdict !== 'identical');
  const same = outputs.length - differing.length;
  const failing = differing.some(one => lookOf(table.verdict, one.verdict).tone !== 'good');
  return (
    <div className="vb-Rerun">
      {outputs.length > 0 && (
        <p>
          <Badge look={lookOf(table.verdict, failing ? 'different' : 'identical')} />{' '}
          {trans.__('%1 of %2 outputs are identical.', same, outputs.length)}
        </p>
      )}
      <p>
        <Badge look={lookOf(table.isolation, contained ? 'container' : 'outside')} />{' '}
        <span>{brief(engine)}</span>
      </p>
      <ul className="vb-Files">
        {differing.slice(0, MOST).map(one => (
          <li key={one.path}>
            <code>{brief(one.path)}</code>
            <Badge look={lookOf(table.verdict, one.verdict)} />
            {one.said && <span dir="auto">{brief(one.said, 300)}</span>}
          </li>
        ))}
      </ul>
      {differing.length > MOST && <p>{trans.__('and %1 more', differing.length - MOST)}</p>}
      {problems.map((text, index) => (
        <p key={index} className="vb-Trouble" dir="auto">
          {brief(text, 2000)}
        </p>
      ))}
    </div>
  );
}
