import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { IAbout } from '../api/answers';
import { brief, short } from '../look/words';

const MOST = 20;

/** Which bytes it was: the commit, the manifest, and what differs from the commit. */
export function About(props: { about: IAbout; trans: TranslationBundle }): JSX.Element {
  const { trans } = props;
  const { commit, manifest_sha256: manifest } = props.about;
  const uncommitted = Object.keys(props.about.uncommitted);
  const more = uncommitted.length - MOST;
  return (
    <dl className="vb-Facts">
      <dt>{trans.__('Commit')}</dt>
      <dd title={commit ?? undefined}>{commit ? short(commit) : trans.__('none')}</dd>
      <dt>{trans.__('Manifest')}</dt>
      <dd title={manifest ?? undefined}>
        {manifest ? `SHA-256 ${short(manifest)}` : trans.__('none')}
      </dd>
      {uncommitted.length > 0 && (
        <>
          <dt>{trans.__('Not as committed')}</dt>
          <dd>
            {uncommitted
              .slice(0, MOST)
              .map(path => brief(path))
              .join(', ')}
            {more > 0 && ` ${trans.__('and %1 more', more)}`}
          </dd>
        </>
      )}
    </dl>
  );
}
