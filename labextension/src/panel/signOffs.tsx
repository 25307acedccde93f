import * as React from 'react';
import type { ISignOff, IStep } from '../api/answers';
import { CommandIDs } from '../ids';
import { useContext, useReviewing, useStore } from '../look/hooks';
import { Action, Badge } from '../look/pieces';
import { lookOf } from '../look/states';
import { brief, visible, when } from '../look/words';

/** Who vouched for the step, when, and for which bytes; asking reads them all, so on demand. */
export function SignOffs(props: { slug: string; report: IStep }): JSX.Element {
  const { model, commands, trans, table } = useContext();
  const project = useStore(model.project)?.id ?? '';
  const [past, setPast] = React.useState<ISignOff[] | null>(null);
  const { slug, report } = props;
  const isReviewing = useReviewing();
  React.useEffect(() => setPast(null), [report]);
  const read = async (): Promise<void> =>
    setPast((await model.api.signOffs(project, slug)).sign_offs);
  return (
    <section>
      <h4>{trans.__('Sign-off')}</h4>
      <p>
        <Badge look={lookOf(table.user, report.sUser)} />
      </p>
      <div className="vb-Buttons">
        {!isReviewing && (
          <Action
            className="vb-mod-small"
            onClick={() => void commands.execute(CommandIDs.signOff, { step: slug })}
          >
            {trans.__('Sign off…')}
          </Action>
        )}
        {!past && (
          <Action className="vb-mod-small" onClick={() => void read()}>
            {trans.__('Show sign-offs')}
          </Action>
        )}
      </div>
      {past && <Past past={past} />}
    </section>
  );
}

function Past(props: { past: ISignOff[] }): JSX.Element {
  const { trans, table } = useContext();
  return props.past.length ? (
    <ol reversed className="vb-Past">
      {[...props.past].reverse().map((one, index) => (
        <li key={index}>
          <Badge look={lookOf(table.user, one.verdict)} /> {brief(one.by, 120)}, {when(one.when)}
          {', '}
          {one.signed ? (one.signature_state ?? trans.__('signed')) : trans.__('unsigned')}
          {one.note && <blockquote dir="auto">{visible(one.note)}</blockquote>}
        </li>
      ))}
    </ol>
  ) : (
    <p>{trans.__('Nobody has signed this step off.')}</p>
  );
}
