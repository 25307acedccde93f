import * as React from 'react';
import { useContext, useStore } from '../look/hooks';
import { Action } from '../look/pieces';
import { lookOf } from '../look/states';
import { brief, printed, size } from '../look/words';
import type { IEntry } from '../model/log';

/** The output of the run that is shown: follows it, or stays where the person reads. */
export function LogSection(): JSX.Element {
  const { model, trans } = useContext();
  const shown = useStore(model.live.shown);
  const entries = useStore(model.live.log.entries);
  const [follow, setFollow] = React.useState(true);
  const [held, setHeld] = React.useState<readonly IEntry[] | null>(null);
  const end = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    if (follow && end.current) {
      end.current.scrollTop = end.current.scrollHeight;
    }
  }, [entries, follow]);
  const toggle = (): void => {
    setHeld(follow ? entries : null);
    setFollow(!follow);
  };
  if (!shown) {
    return <Nothing />;
  }
  return (
    <div className="vb-LogSection">
      <div className="vb-Buttons">
        <Action className="vb-mod-small" aria-pressed={!follow} onClick={toggle}>
          {follow ? trans.__('Pause') : trans.__('Follow')}
        </Action>
        {shown.outcome === null && !shown.connected && (
          <span role="status">{trans.__('connecting…')}</span>
        )}
        <Whole project={shown.project} run={shown.run} />
      </div>
      <div ref={end} className="vb-Log" role="log" tabIndex={0} aria-label={trans.__('Log')}>
        {(held ?? entries).map(entry => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </div>
    </div>
  );
}

function Nothing(): JSX.Element {
  const { commands, trans } = useContext();
  return (
    <div className="vb-Hint">
      <p>{trans.__('No run is in progress.')}</p>
      <Action className="vb-mod-small" onClick={() => void commands.execute('vaibify:log')}>
        {trans.__('Show the latest run')}
      </Action>
    </div>
  );
}

function Whole(props: { project: string; run: string }): JSX.Element {
  const { model, trans } = useContext();
  const logs = useStore(model.live.log.whole);
  const running = useStore(model.live.shown)?.step;
  const step = running && logs.has(running) ? running : [...logs.keys()].pop();
  const log = step && logs.get(step);
  return log ? (
    <a
      className="vb-Link"
      href={model.api.log(props.project, props.run, step, log)}
      target="_blank"
      rel="noopener noreferrer"
    >
      {trans.__('Open the full log of %1', brief(step, 60))}
    </a>
  ) : (
    <></>
  );
}

const Entry = React.memo(function Entry(props: { entry: IEntry }): JSX.Element {
  const { trans } = useContext();
  const { entry } = props;
  const kind = entry.event === 'output' ? (entry.stream ?? 'stdout') : entry.event;
  return (
    <div className={`vb-Log-entry vb-Log-${brief(kind, 20)}`}>
      {entry.notShown > 0 && (
        <div className="vb-Log-gap">{trans.__('%1 not shown', size(entry.notShown))}</div>
      )}
      {useSentence(entry)}
    </div>
  );
});

function useSentence(entry: IEntry): string {
  const { trans, table } = useContext();
  const step = brief(entry.step ?? '', 80);
  const text = printed(entry.text);
  switch (entry.event) {
    case 'output':
    case 'gap':
      return text;
    case 'runStarted':
      return trans.__('The run began.');
    case 'stepStarted':
      return trans.__('%1 began', step);
    case 'testsStarted':
      return trans.__('tests of %1 began', step);
    case 'stepPass':
      return trans.__('%1 passed', step);
    case 'stepFail':
      return trans.__('%1 failed: %2', step, text);
    case 'stepPaused':
      return trans.__('%1 was paused by %2', step, text);
    case 'stepResumed':
      return trans.__('%1 goes on, says %2', step, text);
    case 'stepCompleted':
      return trans.__('%1 is done, says %2', step, text);
    case 'stepAbandoned':
      return trans.__('%1 was given up by %2', step, text);
    case 'tests':
      return `${step}: ${lookOf(table.test, entry.outcome ?? '').label}. ${text}`;
    case 'runComplete':
      return trans.__('The run ended: %1', brief(entry.outcome ?? '', 40));
    default:
      return step ? `${step}: ${text}` : text;
  }
}
