import * as React from 'react';
import { CommandIDs } from '../ids';
import { useContext, useReviewing, useStore } from '../look/hooks';
import { Mark } from '../look/marks';
import { Action } from '../look/pieces';
import { brief, visible } from '../look/words';

/** What a person does at a step that waits for them; nothing where none does. */
export function Attend(props: { slug: string }): JSX.Element | null {
  const { commands, model, trans } = useContext();
  const { slug: step } = props;
  const isReviewing = useReviewing();
  const waiting = useStore(model.live.waiting, all => all.get(step));
  if (!waiting || isReviewing) {
    return null;
  }
  const { isPaused } = waiting;
  const say = (command: string, more = {}): void =>
    void commands.execute(command, { step, ...more });
  return (
    <section className="vb-Attend" aria-label={trans.__('Waiting for you')}>
      <h4>
        <Mark shape="pause" />
        {isPaused ? trans.__('Paused') : trans.__('Waiting for you')}
      </h4>
      <p>
        {waiting.commands.length > 0
          ? trans.__('Do this in a terminal of the step, or what else is right, then complete it:')
          : trans.__('Do what is to be done in a terminal of the step, then complete it.')}
      </p>
      {waiting.commands.map((command, index) => (
        <pre key={index} tabIndex={0} className="vb-Command">
          {visible(command)}
        </pre>
      ))}
      {waiting.outputs.length > 0 && (
        <p>{trans.__('It is to write: %1', brief(waiting.outputs.join(', '), 1000))}</p>
      )}
      <div className="vb-Buttons" role="group" aria-label={trans.__('What the waiting step does')}>
        <Action primary disabled={isPaused} onClick={() => say(CommandIDs.terminal)}>
          {trans.__('Open terminal')}
        </Action>
        <Action onClick={() => say(isPaused ? CommandIDs.resume : CommandIDs.pause)}>
          {isPaused ? trans.__('Resume') : trans.__('Pause')}
        </Action>
        <Action onClick={() => say(CommandIDs.complete)}>{trans.__('Complete')}</Action>
        <Action onClick={() => say(CommandIDs.complete, { abandon: true })}>
          {trans.__('Give up…')}
        </Action>
      </div>
    </section>
  );
}
