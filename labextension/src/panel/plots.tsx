import * as React from 'react';
import type { IFile, IStepDetail } from '../api/answers';
import { CommandIDs } from '../ids';
import { useContext, useStore } from '../look/hooks';
import { brief } from '../look/words';

const PICTURES = /\.(png|jpe?g|gif|webp|svg|avif|bmp)$/i;

/** The step's plots, small; the server sends their bytes sandboxed, and an <img> runs nothing. */
export function Plots(props: { detail: IStepDetail; plots: IFile[] }): JSX.Element | null {
  const { trans } = useContext();
  const shown = props.plots.filter(file => PICTURES.test(file.path) && file.sha256);
  return shown.length ? (
    <section>
      <h4>{trans.__('Plots')}</h4>
      <ul className="vb-Plots">
        {shown.map(file => (
          <li key={file.path}>
            <Thumbnail slug={props.detail.slug} file={file} />
          </li>
        ))}
      </ul>
    </section>
  ) : null;
}

function Thumbnail(props: { slug: string; file: IFile }): JSX.Element {
  const { model, commands, trans } = useContext();
  const { slug, file } = props;
  const project = useStore(model.project)?.id ?? '';
  return (
    <button
      type="button"
      title={brief(file.path)}
      aria-label={trans.__('Open %1', brief(file.path))}
      onClick={() => void commands.execute(CommandIDs.openFile, { path: file.path })}
    >
      <img alt="" loading="lazy" src={model.api.plot(project, slug, file.path, file.sha256)} />
    </button>
  );
}
