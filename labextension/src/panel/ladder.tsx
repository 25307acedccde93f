import * as React from 'react';
import type { IRung } from '../api/answers';
import { useContext, useStore } from '../look/hooks';
import { Mark } from '../look/marks';
import { Badge } from '../look/pieces';
import { lookOf } from '../look/states';
import { brief } from '../look/words';
import { Reasons } from './remedy';

const NONE: IRung[] = [];

/** Five rungs, each by itself; one at a time tells what it lacks. */
export function Ladder(): JSX.Element | null {
  const { model, trans, table } = useContext();
  const levels = useStore(model.status.value, status => status?.levels ?? NONE);
  const [open, setOpen] = React.useState<string | null>(null);
  const shown = levels.find(rung => rung.level === open);
  if (!levels.length) {
    return null;
  }
  return (
    <div className="vb-Ladder">
      <div className="vb-Ladder-rungs" role="group" aria-label={trans.__('Ladder')}>
        {levels.map(rung => {
          const look = lookOf(table.rung, rung.met);
          const isOpen = rung.level === open;
          return (
            <button
              key={rung.level}
              type="button"
              className={`vb-Rung vb-tone-${look.tone}`}
              aria-expanded={isOpen}
              aria-controls="vb-rung"
              title={`${rung.title}: ${look.label}`}
              aria-label={`${rung.level} ${rung.title}: ${look.label}`}
              onClick={() => setOpen(isOpen ? null : rung.level)}
            >
              {rung.level}
              <Mark shape={look.shape} />
            </button>
          );
        })}
      </div>
      <div id="vb-rung" className="vb-Ladder-missing" hidden={!shown}>
        {shown && <Missing rung={shown} />}
      </div>
    </div>
  );
}

function Missing(props: { rung: IRung }): JSX.Element {
  const { trans, table } = useContext();
  const { level, title, met, missing } = props.rung;
  return (
    <>
      <h3>
        {level} {brief(title)} <Badge look={lookOf(table.rung, met)} />
      </h3>
      {missing.length ? <Reasons reasons={missing} /> : <p>{trans.__('Nothing is missing.')}</p>}
    </>
  );
}
