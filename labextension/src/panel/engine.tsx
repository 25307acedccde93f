import * as React from 'react';
import type { IImage } from '../api/answers';
import { useContext, useStore } from '../look/hooks';
import { Mark } from '../look/marks';
import { brief, short } from '../look/words';

/** Where steps run: in which image, or that there is no engine and what that means. */
export function EngineMark(): JSX.Element | null {
  const { model, trans } = useContext();
  const image = useStore(model.image.value);
  const fault = useStore(model.image.fault);
  if (!image) {
    return fault ? (
      <Line
        tone="warn"
        shape="question"
        text={trans.__('container engine: unknown')}
        title={fault.text}
      />
    ) : null;
  }
  if (image.engine.state !== 'ok') {
    const text = trans.__('no container engine: steps run outside a container, L3 out of reach');
    return (
      <Line tone="warn" shape="ring" text={text} title={brief(image.engine.error?.text ?? '')} />
    );
  }
  if (!image.pinned) {
    const text = trans.__('no image is pinned: steps run outside a container');
    return <Line tone="warn" shape="ring" text={text} title={engineName(image)} />;
  }
  const { name, config_digest: digest } = image.pinned;
  return (
    <Line
      tone="good"
      shape="tick"
      text={`${brief(name, 80)} ${short(digest)}`}
      title={[name, digest, engineName(image)].map(one => brief(one)).join('\n')}
    />
  );
}

function engineName(image: IImage): string {
  return brief([image.engine.name, image.engine.version].filter(Boolean).join(' '));
}

function Line(props: {
  tone: string;
  shape: 'tick' | 'ring' | 'question';
  text: string;
  title: string;
}): JSX.Element {
  return (
    <div className={`vb-Engine vb-tone-${props.tone}`} title={props.title}>
      <Mark shape={props.shape} />
      <span>{props.text}</span>
    </div>
  );
}
