import * as React from 'react';
import type { IFault, IPinBreak, IPins, IStep } from '../api/answers';
import { asRefusal } from '../api/connection';
import { CommandIDs } from '../ids';
import { useContext, useStore } from '../look/hooks';
import { Action, Badge } from '../look/pieces';
import { lookOf } from '../look/states';
import { brief } from '../look/words';

const MOST = 200;

/** What the step's last passed run read and wrote, and whether all behind it is still so. */
export function Pins(props: { slug: string; report: IStep }): JSX.Element {
  const { model, trans } = useContext();
  const { slug, report } = props;
  const project = useStore(model.project)?.id ?? '';
  const [isShown, show] = React.useState(false);
  const [pins, setPins] = React.useState<IPins | null>(null);
  const [fault, setFault] = React.useState<IFault | null>(null);
  React.useEffect(() => {
    let isLate = !isShown;
    const take = (value: IPins | null, wrong: IFault | null): void => {
      if (!isLate) {
        setPins(value);
        setFault(wrong);
      }
    };
    if (isShown) {
      model.api.pins(project, slug).then(
        value => take(value, null),
        (error: unknown) => take(null, asRefusal(error))
      );
    }
    return () => {
      isLate = true;
    };
  }, [model, project, slug, report, isShown]);
  return (
    <section aria-busy={isShown && !pins && !fault}>
      <h4>{trans.__('Lineage')}</h4>
      {!isShown && (
        <Action className="vb-mod-small" onClick={() => show(true)}>
          {trans.__('Show what it comes from')}
        </Action>
      )}
      {fault && (
        <p role="alert" className="vb-Trouble">
          {brief(fault.text, 2000)}
        </p>
      )}
      {pins && <Shown pins={pins} />}
      {pins?.run_id && (
        <a
          className="vb-Link"
          href={model.api.lineage(project, slug)}
          download={`${slug}-lineage.svg`}
        >
          {trans.__('Download it as a picture (SVG)')}
        </a>
      )}
    </section>
  );
}

function Shown(props: { pins: IPins }): JSX.Element {
  const { trans, table } = useContext();
  const { pins } = props;
  const contents = [...pins.pinned_artifacts, ...pins.outputs].slice(0, MOST);
  const behind = pins.upstream.length;
  return (
    <>
      <p>
        <Badge look={lookOf(table.pin, pins.status)} />{' '}
        {behind > 0 && trans._n('It rests on %1 step.', 'It rests on %1 steps.', behind)}
      </p>
      {pins.breaks.length > 0 && <Breaks breaks={pins.breaks} />}
      <ul className="vb-Files">
        {contents.map((one, index) => (
          <Entry
            key={`${index} ${one.artifact_id}`}
            path={one.artifact_id}
            version={one.version_number}
            maker={one.made_by ?? null}
            status={pins.checks[index].status}
          />
        ))}
      </ul>
      {pins.checks.length > MOST && <p>{trans.__('%1 in all', pins.checks.length)}</p>}
    </>
  );
}

/** Where the chain does not hold; the first place is the one to begin at. */
function Breaks(props: { breaks: IPinBreak[] }): JSX.Element {
  const { trans } = useContext();
  const [first] = props.breaks;
  return (
    <>
      <p>
        {trans.__('It breaks first at')} <StepLink slug={first.analysis_id} />:
      </p>
      <ul className="vb-Reasons">
        {props.breaks.slice(0, 10).map((one, index) => (
          <li key={index} dir="auto">
            {brief(`${one.analysis_id}: ${one.text}`, 1000)}
          </li>
        ))}
      </ul>
      {props.breaks.length > 10 && <p>{trans.__('%1 in all', props.breaks.length)}</p>}
    </>
  );
}

function Entry(props: {
  path: string;
  version: number;
  maker: string | null;
  status: string;
}): JSX.Element {
  const { commands, trans, table } = useContext();
  const { path, version, maker, status } = props;
  return (
    <li>
      <button
        type="button"
        className="vb-Link vb-Files-path"
        dir="auto"
        title={brief(path)}
        onClick={() => void commands.execute(CommandIDs.openFile, { path })}
      >
        {brief(path)}
      </button>
      <span>{trans.__('version %1', version)}</span>
      {maker !== null && (
        <span>
          {trans.__('made by')} <StepLink slug={maker} />
        </span>
      )}
      <Badge look={lookOf(table.pin, status)} />
    </li>
  );
}

function StepLink(props: { slug: string }): JSX.Element {
  const { model } = useContext();
  return (
    <button type="button" className="vb-Link" dir="auto" onClick={() => model.step.set(props.slug)}>
      {brief(props.slug, 120)}
    </button>
  );
}
