import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { useContext } from '../look/hooks';
import { difference, type IDifference, type IPoints } from './difference';
import type { There } from './plotView';

const MOST_POINTS = 24_000_000;

interface ISize {
  width: number;
  height: number;
}

interface ICompared {
  found: IDifference;
  size: ISize;
  signed: ISize;
  now: ISize;
}

/** Where the two pictures differ, point by point. */
export function Difference(props: { signed: There; now: There }): JSX.Element {
  const { trans } = useContext();
  const { signed, now } = props;
  const [shown, setShown] = React.useState<ICompared | string | null>(null);
  const canvas = React.useRef<HTMLCanvasElement>(null);
  React.useEffect(() => {
    let over = false;
    const put = (value: ICompared | string): void => {
      if (!over) {
        setShown(value);
      }
    };
    compared(signed.source, now.source, trans).then(put, (error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      put(trans.__('These pictures cannot be compared point by point: %1', why));
    });
    return () => {
      over = true;
    };
  }, [signed.source, now.source, trans]);
  React.useEffect(() => {
    if (shown && typeof shown !== 'string') {
      paint(canvas.current, shown);
    }
  }, [shown]);
  if (shown === null) {
    return <div aria-busy="true" />;
  }
  if (typeof shown === 'string') {
    return <p className="vb-Compare-none">{shown}</p>;
  }
  const words = sentences(shown, trans);
  return (
    <div className="vb-Difference">
      <p role="status">{words}</p>
      <div className="vb-Difference-stage">
        <canvas ref={canvas} className="vb-Plot" role="img" aria-label={words} />
        {shown.found.box && <div className="vb-Difference-box" style={placed(shown)} />}
      </div>
    </div>
  );
}

async function compared(
  before: string,
  after: string,
  trans: TranslationBundle
): Promise<ICompared | string> {
  const [a, b] = await Promise.all([before, after].map(loaded));
  const [signed, now] = [a, b].map(one => ({ width: one.naturalWidth, height: one.naturalHeight }));
  const size = {
    width: Math.max(signed.width, now.width),
    height: Math.max(signed.height, now.height)
  };
  const points = size.width * size.height;
  if (!points || points > MOST_POINTS) {
    const dimensions = `${size.width} × ${size.height}`;
    return trans.__('Pictures of %1 points are not compared point by point.', dimensions);
  }
  return { found: difference(drawn(a, size), drawn(b, size)), size, signed, now };
}

async function loaded(source: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = source;
  await image.decode();
  return image;
}

/** A picture's points on white paper of its own size; outside it there is nothing. */
function drawn(image: HTMLImageElement, size: ISize): IPoints {
  const canvas = Object.assign(document.createElement('canvas'), size);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) {
    throw new Error('no canvas');
  }
  context.fillStyle = 'white';
  context.fillRect(0, 0, image.naturalWidth, image.naturalHeight);
  context.drawImage(image, 0, 0, image.naturalWidth, image.naturalHeight);
  return context.getImageData(0, 0, size.width, size.height);
}

function paint(canvas: HTMLCanvasElement | null, { found, size }: ICompared): void {
  if (canvas) {
    Object.assign(canvas, size);
    const points = new ImageData(found.picture as ImageData['data'], size.width, size.height);
    canvas.getContext('2d')?.putImageData(points, 0, 0);
  }
}

function placed({ found, size }: ICompared): React.CSSProperties {
  const { left, top, width, height } = found.box ?? { left: 0, top: 0, width: 0, height: 0 };
  const percent = (part: number, whole: number): string => `${(100 * part) / whole}%`;
  return {
    left: percent(left, size.width),
    top: percent(top, size.height),
    width: percent(width, size.width),
    height: percent(height, size.height)
  };
}

function sentences({ found, signed, now }: ICompared, trans: TranslationBundle): string {
  const { count, total, box } = found;
  const told = [];
  if (signed.width !== now.width || signed.height !== now.height) {
    const [before, after] = [signed, now].map(one => `${one.width} × ${one.height}`);
    told.push(trans.__('The sizes differ: %1 signed, %2 now.', before, after));
  }
  if (!box) {
    told.push(trans.__('No point differs.'));
  } else {
    const share = `${Number(((100 * count) / total).toPrecision(2))} %`;
    const place = `${box.width} × ${box.height}`;
    const [many, all] = [count, total].map(one => one.toLocaleString());
    told.push(
      trans.__('%1 of %2 points differ (%3), all within the marked %4.', many, all, share, place)
    );
  }
  return told.join(' ');
}
