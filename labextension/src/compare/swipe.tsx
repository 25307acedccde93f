import * as React from 'react';
import { useContext } from '../look/hooks';
import { PlotView, type There } from './plotView';

/** Both versions in one place, with an edge between them to be moved by mouse or arrow keys. */
export function Swipe(props: { signed: There; now: There; path: string }): JSX.Element {
  const { trans } = useContext();
  const { signed, now, path } = props;
  const [edge, setEdge] = React.useState(50);
  return (
    <div className="vb-Swipe">
      <div>
        <PlotView version={signed} path={path} name={trans.__('Signed')} />
      </div>
      <div style={{ clipPath: `inset(0 0 0 ${edge}%)` }}>
        <PlotView version={now} path={path} name={trans.__('Now')} />
      </div>
      <input
        type="range"
        min={0}
        max={100}
        step={0.5}
        value={edge}
        aria-label={trans.__('Edge between the signed version, left, and the one of now, right')}
        aria-valuetext={trans.__('%1 percent signed', Math.round(edge))}
        onChange={event => setEdge(Number(event.target.value))}
      />
      <div className="vb-Swipe-edge" style={{ insetInlineStart: `${edge}%` }} aria-hidden="true">
        <span>{trans.__('Signed')}</span>
        <span>{trans.__('Now')}</span>
      </div>
    </div>
  );
}
