import * as React from 'react';
import type { IEnvelope } from '../api/answers';
import { asRefusal, type Refusal } from '../api/connection';
import { CommandIDs } from '../ids';
import { useContext, useReviewing, useStore } from '../look/hooks';
import { Action, Badge } from '../look/pieces';
import { lookOf } from '../look/states';
import { brief, short, size } from '../look/words';
import { Build } from './build';

/** The files that speak for the project without us, and the image its steps run in. */
export function ProjectSection(): JSX.Element | null {
  const { model } = useContext();
  const project = useStore(model.project);
  return project ? (
    <div className="vb-Project">
      <Envelope project={project.id} />
      <Image />
    </div>
  ) : null;
}

function Envelope(props: { project: string }): JSX.Element {
  const { trans } = useContext();
  const isReviewing = useReviewing();
  const { envelope, fault } = useEnvelope(props.project);
  return (
    <section>
      <h4>{trans.__('Envelope')}</h4>
      <ul className="vb-Files">
        {envelope?.files.map(file => (
          <li key={file.path}>
            <code title={file.sha256 ?? undefined}>{brief(file.path)}</code>
            <span>{file.exists ? size(file.bytes ?? 0) : trans.__('not written yet')}</span>
          </li>
        ))}
      </ul>
      {(fault ?? envelope?.error) && (
        <p role="alert" className="vb-Trouble">
          {brief((fault ?? envelope?.error)?.text ?? '', 2000)}
        </p>
      )}
      <div className="vb-Buttons">
        <JobButton kind="verify" command={CommandIDs.verify} label={trans.__('Verify')} />
        {!isReviewing && (
          <JobButton kind="envelope" command={CommandIDs.envelope} label={trans.__('Regenerate')} />
        )}
      </div>
    </section>
  );
}

function useEnvelope(project: string): { envelope: IEnvelope | null; fault: Refusal | null } {
  const { model } = useContext();
  const status = useStore(model.status.value);
  const written = useStore(model.jobs.all, all => all.get('envelope')?.state);
  const [envelope, setEnvelope] = React.useState<IEnvelope | null>(null);
  const [fault, setFault] = React.useState<Refusal | null>(null);
  React.useEffect(() => {
    let over = false;
    model.api.envelope(project).then(
      answer => {
        if (!over) {
          setEnvelope(answer);
          setFault(null);
        }
      },
      (error: unknown) => !over && setFault(asRefusal(error))
    );
    return () => {
      over = true;
    };
  }, [model, project, status, written]);
  return { envelope, fault };
}

function Image(): JSX.Element {
  const { model, trans, table } = useContext();
  const isReviewing = useReviewing();
  const image = useStore(model.image.value);
  return (
    <section>
      <h4>{trans.__('Image')}</h4>
      {image?.pinned ? (
        <dl className="vb-Facts">
          <dt>{trans.__('Name')}</dt>
          <dd>{brief(image.pinned.name)}</dd>
          <dt>{trans.__('Digest')}</dt>
          <dd title={image.pinned.config_digest}>{short(image.pinned.config_digest)}</dd>
          <dt>{trans.__('Registry')}</dt>
          <dd>{brief(image.pinned.registry_digest ?? trans.__('not pushed'))}</dd>
          <dt>{trans.__('Here')}</dt>
          <dd>
            <Badge look={lookOf(table.here, image.here)} />
          </dd>
        </dl>
      ) : (
        <p>{trans.__('No image is pinned; building one makes every later run happen in it.')}</p>
      )}
      {image?.engine.state === 'missing' && (
        <p>{trans.__('No container engine answers here, so none can be built.')}</p>
      )}
      {!isReviewing && <Build disabled={image?.engine.state !== 'ok'} />}
    </section>
  );
}

function JobButton(props: { kind: string; command: string; label: string }): JSX.Element {
  const { commands, model, trans } = useContext();
  const job = useStore(model.jobs.all, all => all.get(props.kind));
  const isRunning = job?.state === 'running';
  return (
    <>
      <Action
        className="vb-mod-small"
        disabled={isRunning}
        onClick={() => void commands.execute(props.command)}
      >
        {props.label}
      </Action>
      {isRunning && (
        <span className="vb-Job" aria-label={trans.__('in progress')}>
          {brief(job.text, 120) || trans.__('in progress')}
        </span>
      )}
    </>
  );
}
