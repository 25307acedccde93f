import * as React from 'react';
import type { ISignOff } from '../api/answers';
import { useContext } from '../look/hooks';
import { Badge } from '../look/pieces';
import { lookOf } from '../look/states';
import { brief, short, size, visible, when } from '../look/words';
import { PlotView } from './plotView';
import type { ISides, Side } from './versions';

/** The signed version, and beside it what is there now. */
export function Beside(props: { found: ISides; path: string }): JSX.Element {
  const { trans } = useContext();
  const { found, path } = props;
  return (
    <div className="vb-Beside">
      <Version title={trans.__('Signed')} side={found.signed} path={path} word={found.word} />
      <Version title={trans.__('Now')} side={found.now} path={path} word={null} />
    </div>
  );
}

function Version(props: {
  title: string;
  side: Side;
  path: string;
  word: ISignOff | null;
}): JSX.Element {
  const { trans } = useContext();
  const { title, side, path, word } = props;
  return (
    <figure aria-label={title}>
      <figcaption>
        <strong>{title}</strong>
        {word && <Word word={word} />}
        {'sha256' in side && (
          <>
            <span className="vb-Compare-bytes" title={`SHA-256 ${side.sha256}`}>
              {size(side.data.size)}, SHA-256 <code>{short(side.sha256)}</code>
            </span>
            <a className="vb-Link" href={side.source} download={fileName(path, word)}>
              {trans.__('Download')}
            </a>
          </>
        )}
      </figcaption>
      {'sha256' in side ? (
        <PlotView version={side} path={path} name={`${title}: ${brief(path)}`} />
      ) : (
        <p className="vb-Compare-none">{visible(side.refused)}</p>
      )}
    </figure>
  );
}

function Word(props: { word: ISignOff }): JSX.Element {
  const { table, trans } = useContext();
  const { verdict, by, when: time } = props.word;
  return (
    <>
      <Badge look={lookOf(table.user, verdict)} />
      <span dir="auto">{trans.__('by %1, %2', brief(by, 80), when(time))}</span>
    </>
  );
}

/** Which name a version is downloaded under: both may lie in one folder. */
function fileName(path: string, word: ISignOff | null): string {
  const name = path.split('/').pop() ?? path;
  return word ? `signed-${name}` : name;
}
