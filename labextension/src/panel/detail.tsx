import * as React from 'react';
import type { IStepDetail } from '../api/answers';
import { CommandIDs } from '../ids';
import { useContext, useReviewing, useStore } from '../look/hooks';
import { Action, Badge } from '../look/pieces';
import { badges, lookOf } from '../look/states';
import { whyOf, whyRun } from '../look/why';
import { brief, visible } from '../look/words';
import { Attend } from './attend';
import { Files } from './files';
import { LastRun } from './lastRun';
import { Pins } from './pins';
import { Plots } from './plots';
import { Reasons } from './remedy';
import { Rerun, RerunButton } from './rerun';
import { SignOffs } from './signOffs';

/** Everything about the step that is open. */
export function StepDetail(): JSX.Element {
  const { model, trans } = useContext();
  const slug = useStore(model.step);
  const detail = useStore(model.detail.value);
  const fault = useStore(model.detail.fault);
  if (!slug) {
    return <p className="vb-Hint">{trans.__('Open a step in the list to see it here.')}</p>;
  }
  if (fault && !detail) {
    return (
      <p role="alert" className="vb-Trouble">
        {brief(fault.text, 2000)}
      </p>
    );
  }
  return detail ? <Shown detail={detail} key={detail.slug} /> : <div aria-busy="true" />;
}

function Shown(props: { detail: IStepDetail }): JSX.Element {
  const { trans, table } = useContext();
  const isReviewing = useReviewing();
  const { detail } = props;
  const { report } = detail;
  const run = lookOf(table.run, report.run);
  const all = badges(report, table, trans);
  const plots = detail.outputs.filter(file => file.kind === 'plot');
  return (
    <div className="vb-Detail">
      <h3 dir="auto">{brief(detail.name)}</h3>
      {detail.description && (
        <p dir="auto" className="vb-Detail-description">
          {visible(detail.description)}
        </p>
      )}
      <ul className="vb-Detail-badges">
        <li>
          <span>{trans.__('Run')}</span>{' '}
          <Badge look={run} title={whyRun(report, run.label, all, trans)} />
        </li>
        {all.map(badge => (
          <li key={badge.letter}>
            <span>{badge.name}</span>{' '}
            <Badge look={badge.look} title={whyOf(report, badge, trans)} />
          </li>
        ))}
      </ul>
      {report.reasons.length > 0 && <Reasons reasons={report.reasons} />}
      {report.notes.length > 0 && <Reasons reasons={report.notes} className="vb-Notes" />}
      <Attend slug={detail.slug} />
      {isReviewing ? <Reviewed slug={detail.slug} /> : <Buttons detail={detail} />}
      {plots.length > 0 && <Plots detail={detail} plots={plots} />}
      <Commands title={trans.__('Commands')} commands={detail.commands} />
      <Files title={trans.__('Outputs')} files={detail.outputs} />
      <Files title={trans.__('Inputs')} files={detail.inputs} />
      <Files title={trans.__('Code')} files={detail.code} />
      <Pins slug={detail.slug} report={report} />
      <LastRun detail={detail} />
      <Tests detail={detail} />
      <SignOffs slug={detail.slug} report={report} />
    </div>
  );
}

function Reviewed(props: { slug: string }): JSX.Element {
  const { model } = useContext();
  const result = useStore(model.review.reruns, all => all.get(props.slug));
  return (
    <section>
      <RerunButton slug={props.slug} />
      {result && <Rerun result={result} />}
    </section>
  );
}

function Buttons(props: { detail: IStepDetail }): JSX.Element {
  const { commands, model, trans } = useContext();
  const { slug, report } = props.detail;
  const isRunning = useStore(model.status.value, status => Boolean(status?.current));
  const run = (args: object): unknown =>
    commands.execute(CommandIDs.run, { steps: [slug], ...args });
  const isSeenOnly = report.run === 'failed' || report.run === 'interrupted';
  return (
    <div className="vb-Buttons" role="group" aria-label={trans.__('Actions on this step')}>
      <Action primary disabled={isRunning} onClick={() => void run({ mode: 'steps' })}>
        {trans.__('Run step')}
      </Action>
      <Action disabled={isRunning} onClick={() => void run({ mode: 'from' })}>
        {trans.__('Run from here')}
      </Action>
      <Action onClick={() => void commands.execute(CommandIDs.signOff, { step: slug })}>
        {trans.__('Sign off…')}
      </Action>
      {isSeenOnly && (
        <Action onClick={() => void commands.execute(CommandIDs.acknowledge, { step: slug })}>
          {trans.__('Acknowledge')}
        </Action>
      )}
    </div>
  );
}

function Commands(props: { title: string; commands: string[] }): JSX.Element | null {
  return props.commands.length ? (
    <section>
      <h4>{props.title}</h4>
      {props.commands.map((command, index) => (
        <pre key={index} tabIndex={0} className="vb-Command">
          {visible(command)}
        </pre>
      ))}
    </section>
  ) : null;
}

function Tests(props: { detail: IStepDetail }): JSX.Element {
  const { commands, model, trans } = useContext();
  const { tests, slug } = props.detail;
  const isReviewing = useReviewing();
  const isRunning = useStore(model.status.value, status => Boolean(status?.current));
  return (
    <section>
      <h4>{trans.__('Tests')}</h4>
      {!tests.length && <p>{trans.__('This step declares no tests.')}</p>}
      {tests.length > 0 && !isReviewing && (
        <Action
          className="vb-mod-small"
          disabled={isRunning}
          onClick={() =>
            void commands.execute(CommandIDs.run, {
              mode: 'only',
              steps: [slug],
              tests_only: true
            })
          }
        >
          {trans.__('Run tests')}
        </Action>
      )}
      {tests.map(test => (
        <React.Fragment key={test.category}>
          <h5>{brief(test.category, 40)}</h5>
          {test.commands.map((command, index) => (
            <pre key={index} tabIndex={0} className="vb-Command">
              {visible(command)}
            </pre>
          ))}
        </React.Fragment>
      ))}
    </section>
  );
}
