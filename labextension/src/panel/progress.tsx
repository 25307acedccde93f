import * as React from 'react';
import { useContext, useStore } from '../look/hooks';
import { brief, when } from '../look/words';

/** The run in progress: who started it, which step, how many of how many. */
export function Progress(): JSX.Element | null {
  const { model, trans } = useContext();
  const current = useStore(model.status.value, status => status?.current ?? null);
  const shown = useStore(model.live.shown);
  if (!current) {
    return null;
  }
  if (current.state !== 'running') {
    const text =
      current.state === 'unknown'
        ? trans.__('A run of %1 on another machine has not ended here.', brief(current.person, 80))
        : trans.__('The run of %1 lost its runner.', brief(current.person, 80));
    return <p className="vb-Progress">{text}</p>;
  }
  const counted = shown?.run === current.run_id && shown.planned > 0 ? shown : null;
  return (
    <div className="vb-Progress">
      <span title={current.run_id}>
        {trans.__('Running since %1, by %2', when(current.started), brief(current.person, 80))}
      </span>
      <Waiting />
      {counted && (
        <progress
          aria-label={trans.__('Steps done: %1 of %2', counted.done, counted.planned)}
          max={counted.planned}
          value={counted.done}
        />
      )}
    </div>
  );
}

/** The steps of the run that wait for somebody; the line leads to them. */
function Waiting(): JSX.Element {
  const { model, trans } = useContext();
  const slugs = useStore(model.live.waiting);
  const steps = useStore(model.status.value)?.steps ?? [];
  return (
    <>
      {steps
        .filter(step => slugs.has(step.slug))
        .map(step => (
          <button
            key={step.slug}
            type="button"
            className="vb-Link"
            onClick={() => model.step.set(step.slug)}
          >
            {slugs.get(step.slug)?.isPaused
              ? trans.__('%1 is paused', brief(step.name, 80))
              : trans.__('%1 waits for you', brief(step.name, 80))}
          </button>
        ))}
    </>
  );
}
