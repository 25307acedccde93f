import * as React from 'react';
import { CommandIDs } from '../ids';
import { useContext, useStore } from '../look/hooks';
import { Action, Badge } from '../look/pieces';
import type { ILook } from '../look/states';
import { brief, printed, visible } from '../look/words';
import type { IShownJob } from '../model/jobs';

/** Building the image: begun, watched, cancelled, and how it ended. */
export function Build(props: { disabled: boolean }): JSX.Element {
  const { commands, model, trans } = useContext();
  const job = useStore(model.jobs.all, all => all.get('build'));
  const isIdle = useStore(model.status.value, status => status !== null && !status.current);
  const isRunning = job?.state === 'running';
  return (
    <>
      <div className="vb-Buttons">
        <Action
          className="vb-mod-small"
          disabled={isRunning || !isIdle || props.disabled}
          onClick={() => void commands.execute(CommandIDs.build)}
        >
          {trans.__('Build')}
        </Action>
        {isRunning && (
          <Action
            className="vb-mod-small"
            onClick={() => void commands.execute(CommandIDs.cancelBuild)}
          >
            {trans.__('Cancel the build')}
          </Action>
        )}
      </div>
      {job && <Progress job={job} />}
    </>
  );
}

function Progress(props: { job: IShownJob }): JSX.Element {
  const { trans } = useContext();
  const { job } = props;
  const [step, steps] = job.part;
  const place = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    if (place.current) {
      place.current.scrollTop = place.current.scrollHeight;
    }
  }, [job.lines]);
  return (
    <div className="vb-Build">
      <div role="status">
        <Badge look={useEnd(job)} />
      </div>
      {job.state === 'running' && steps > 0 && (
        <progress
          max={steps}
          value={step}
          aria-label={trans.__('Build step %1 of %2', step, steps)}
        />
      )}
      {job.error && (
        <p role="alert" className="vb-Trouble">
          {brief(job.error.text, 2000)}
          {job.error.action && <code className="vb-Remedy">{visible(job.error.action)}</code>}
        </p>
      )}
      {job.lines.length > 0 && (
        <div
          ref={place}
          className="vb-Log"
          role="log"
          tabIndex={0}
          aria-label={trans.__('Log of the build')}
        >
          {printed(job.lines.join('\n'))}
        </div>
      )}
    </div>
  );
}

function useEnd(job: IShownJob): ILook {
  const { trans } = useContext();
  const [step, steps] = job.part;
  switch (job.state) {
    case 'done':
      return { shape: 'tick', tone: 'good', label: trans.__('built and pinned') };
    case 'failed':
      return { shape: 'cross', tone: 'bad', label: trans.__('the build failed') };
    case 'cancelled':
      return { shape: 'slash', tone: 'warn', label: trans.__('cancelled; nothing was pinned') };
    default: {
      const label = steps
        ? trans.__('building, step %1 of %2', step, steps)
        : trans.__('preparing the build');
      return { shape: 'play', tone: 'busy', label };
    }
  }
}
