import * as React from 'react';
import type { IFileStatus } from '../api/answers';
import { CommandIDs } from '../ids';
import { useContext, useStore } from '../look/hooks';
import { brief } from '../look/words';

/** The status bar's item: what is met, how many steps are verified, what runs. */
export function StatusItem(): JSX.Element | null {
  const { model, commands, trans } = useContext();
  const status = useStore(model.status.value);
  const shown = useStore(model.live.shown);
  if (!status) {
    return null;
  }
  const counted = shown?.run === status.current?.run_id ? shown : null;
  const running = status.steps.find(step => step.run === 'running' || step.run === 'waiting');
  const parts = [rungs(status), green(status)].join(' · ');
  return (
    <button
      type="button"
      className="vb-StatusItem"
      title={trans.__('Vaibify: %1', brief(status.name, 120))}
      onClick={() => void commands.execute(CommandIDs.open)}
    >
      {parts}
      {running && ` · ${brief(running.name, 40)}`}
      {running?.run === 'waiting' && ` (${trans.__('waiting for you')})`}
      {running && counted && counted.planned > 0 && ` ${counted.done + 1}/${counted.planned}`}
    </button>
  );
}

function rungs(status: IFileStatus): string {
  const met = status.levels.filter(rung => rung.met === true).map(rung => rung.level);
  return met.length ? `${met.join(' ')} ✓` : 'L–';
}

function green(status: IFileStatus): string {
  const count = status.steps.filter(step => step.green).length;
  return `${count}/${status.steps.length} ✓`;
}
