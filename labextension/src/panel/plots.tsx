import * as React from 'react';
import type { IFile, IStepDetail } from '../api/answers';
import { kindOf } from '../compare/plotView';
import { CommandIDs } from '../ids';
import { useContext, useStore } from '../look/hooks';
import { lookOf } from '../look/states';
import { brief } from '../look/words';

/** The step's plots, small; each opens beside the version that was signed. */
export function Plots(props: { detail: IStepDetail; plots: IFile[] }): JSX.Element {
  const { trans } = useContext();
  return (
    <section>
      <h4>{trans.__('Plots')}</h4>
      <ul className="vb-Plots">
        {props.plots.map(file => (
          <li key={file.path}>
            <Thumbnail slug={props.detail.slug} file={file} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The server sends a plot's bytes without rights, and an <img> runs nothing. */
function Thumbnail(props: { slug: string; file: IFile }): JSX.Element {
  const { model, commands, trans, table } = useContext();
  const { slug, file } = props;
  const { path, sha256, state } = file;
  const project = useStore(model.project)?.id ?? '';
  return (
    <button
      type="button"
      title={brief(path)}
      aria-label={trans.__('Open %1 beside its signed version', brief(path))}
      onClick={() => void commands.execute(CommandIDs.compare, { project, step: slug, path })}
    >
      {sha256 && kindOf(path) === 'picture' ? (
        <img alt="" loading="lazy" src={model.api.plot(project, slug, path, sha256)} />
      ) : (
        <span className="vb-Plots-name">
          {brief(path.split('/').pop() ?? path, 60)}
          {!sha256 && <em>{lookOf(table.file, state).label}</em>}
        </span>
      )}
    </button>
  );
}
