import * as React from 'react';
import type { IFile } from '../api/answers';
import { CommandIDs } from '../ids';
import { useContext } from '../look/hooks';
import { Badge } from '../look/pieces';
import { lookOf } from '../look/states';
import { brief, short, size } from '../look/words';

const MOST = 200;

/** Files of a step, each with what is true of it and of its copy in git. */
export function Files(props: { title: string; files: IFile[] }): JSX.Element | null {
  const { trans } = useContext();
  const [all, setAll] = React.useState(false);
  const files = all ? props.files : props.files.slice(0, MOST);
  if (!props.files.length) {
    return null;
  }
  return (
    <section>
      <h4>{props.title}</h4>
      <ul className="vb-Files">
        {files.map(file => (
          <Entry key={file.path} file={file} />
        ))}
      </ul>
      {files.length < props.files.length && (
        <button type="button" className="vb-Link" onClick={() => setAll(true)}>
          {trans.__('Show all %1', props.files.length)}
        </button>
      )}
    </section>
  );
}

function Entry(props: { file: IFile }): JSX.Element {
  const { commands, table } = useContext();
  const { path, state, sha256, bytes, text, git } = props.file;
  const facts = [sha256 ? `SHA-256 ${short(sha256)}` : '', bytes === null ? '' : size(bytes), text];
  return (
    <li>
      <button
        type="button"
        className="vb-Link vb-Files-path"
        dir="auto"
        title={[brief(path), ...facts].filter(Boolean).join('\n')}
        onClick={() => void commands.execute(CommandIDs.openFile, { path })}
      >
        {brief(path)}
      </button>
      <Badge look={lookOf(table.file, state)} title={brief(text ?? '')} />
      {git && git !== 'committed' && <Badge look={lookOf(table.git, git)} />}
    </li>
  );
}
