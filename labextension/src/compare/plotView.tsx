import * as React from 'react';
import { useContext } from '../look/hooks';
import { brief } from '../look/words';
import type { Side } from './versions';

export type There = Extract<Side, { sha256: string }>;

const KINDS: [RegExp, Kind][] = [
  [/\.(png|jpe?g|gif|webp|svg|avif|bmp)$/i, 'picture'],
  [/\.pdf$/i, 'pdf'],
  [/\.(html?|txt)$/i, 'page']
];

type Kind = 'picture' | 'pdf' | 'page' | 'other';

/** How a browser shows such a file. */
export function kindOf(path: string): Kind {
  return KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? 'other';
}

/** One version of a plot. The server sends it without rights; a frame takes them away once more. */
export function PlotView(props: { version: There; path: string; name: string }): JSX.Element {
  const { trans } = useContext();
  const { version, path, name } = props;
  switch (kindOf(path)) {
    case 'picture':
      return <img className="vb-Plot" alt={name} src={version.source} draggable={false} />;
    case 'page':
      return <iframe className="vb-Plot" title={name} sandbox="" src={version.source} />;
    case 'pdf':
      if (navigator.pdfViewerEnabled) {
        return <Pdf key={version.sha256} data={version.data} name={name} />;
      }
      return <p className="vb-Compare-none">{trans.__('This browser shows no PDF.')}</p>;
    default:
      return (
        <p className="vb-Compare-none">{trans.__('A browser cannot show %1.', brief(path))}</p>
      );
  }
}

/** A browser's own viewer does not work where a page has no rights: it gets the bytes alone. */
function Pdf(props: { data: Blob; name: string }): JSX.Element {
  const { data, name } = props;
  const [address, setAddress] = React.useState('');
  React.useEffect(() => {
    const made = URL.createObjectURL(new Blob([data], { type: 'application/pdf' }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
    // the bytes of one hash are one file, however often they were fetched
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  return address ? <iframe className="vb-Plot" title={name} src={address} /> : <div />;
}
