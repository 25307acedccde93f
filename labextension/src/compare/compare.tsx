import * as React from 'react';
import { useContext } from '../look/hooks';
import { brief } from '../look/words';
import { Beside } from './beside';
import { Difference } from './pixels';
import { kindOf } from './plotView';
import { Swipe } from './swipe';
import { isAsSigned, sides, type IPlot, type ISides } from './versions';

type Mode = 'beside' | 'swipe' | 'difference';

/** A plot beside the version that was signed, drawn again when either changes. */
export function Compare(props: { plot: IPlot }): JSX.Element {
  const { trans } = useContext();
  const { plot } = props;
  const found = useSides(plot);
  const [wanted, setMode] = React.useState<Mode>('beside');
  if (!found) {
    return <div className="vb-Compare" aria-busy="true" />;
  }
  const modes = possible(found, plot);
  const mode = modes.includes(wanted) ? wanted : 'beside';
  const labels: [Mode, string][] = [
    ['beside', trans.__('Side by side')],
    ['swipe', trans.__('Swipe')],
    ['difference', trans.__('Difference')]
  ];
  return (
    <div className="vb-Compare">
      <div className="vb-Compare-head">
        <div className="vb-Choice" role="group" aria-label={trans.__('Way to compare')}>
          {labels.map(([name, label]) => (
            <button
              key={name}
              type="button"
              className="vb-Button"
              aria-pressed={name === mode}
              disabled={!modes.includes(name)}
              onClick={() => setMode(name)}
            >
              {label}
            </button>
          ))}
        </div>
        <Verdict found={found} path={plot.path} />
      </div>
      {kindOf(plot.path) === 'pdf' && 'sha256' in found.now && 'sha256' in found.signed && (
        <p>
          {trans.__(
            'Pages of a PDF are shown, not compared: what differs in them is for you to see. Whether the bytes differ is sure.'
          )}
        </p>
      )}
      <Stage mode={mode} found={found} path={plot.path} />
    </div>
  );
}

function Stage(props: { mode: Mode; found: ISides; path: string }): JSX.Element {
  const { mode, found, path } = props;
  const { now, signed } = found;
  if (mode !== 'beside' && 'sha256' in now && 'sha256' in signed) {
    const Way = mode === 'swipe' ? Swipe : Difference;
    return <Way signed={signed} now={now} path={path} />;
  }
  return <Beside found={found} path={path} />;
}

function Verdict(props: { found: ISides; path: string }): JSX.Element {
  const { trans } = useContext();
  const same = isAsSigned(props.found, props.path);
  const [tone, text] =
    same === null
      ? ['quiet', trans.__('There is no signed version to compare with.')]
      : same
        ? ['good', trans.__('These are the bytes that were signed.')]
        : ['warn', trans.__('The bytes are not those that were signed.')];
  return (
    <p className={`vb-Compare-verdict vb-tone-${tone}`} role="status" title={brief(props.path)}>
      {text}
    </p>
  );
}

function possible({ now, signed }: ISides, plot: IPlot): Mode[] {
  const kind = kindOf(plot.path);
  if (!('sha256' in now && 'sha256' in signed) || kind === 'pdf' || kind === 'other') {
    return ['beside'];
  }
  return kind === 'picture' ? ['beside', 'swipe', 'difference'] : ['beside', 'swipe'];
}

function useSides(plot: IPlot): ISides | null {
  const { model } = useContext();
  const [found, setFound] = React.useState<ISides | null>(null);
  React.useEffect(() => {
    let asked = 0;
    const look = async (): Promise<void> => {
      const mine = (asked += 1);
      const answer = await sides(model.api, plot);
      if (mine === asked) {
        setFound(answer);
      }
    };
    const onChange = (): void => {
      if (model.status.value.value?.id === plot.project) {
        void look();
      }
    };
    model.status.value.changed.connect(onChange);
    void look();
    return () => {
      asked = -1;
      model.status.value.changed.disconnect(onChange);
    };
  }, [model, plot]);
  return found;
}
