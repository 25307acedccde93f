import * as React from 'react';
import type { IReproduction, ITier } from '../api/answers';
import { CommandIDs } from '../ids';
import { useContext, useStore } from '../look/hooks';
import { Action, Badge } from '../look/pieces';
import { lookOf } from '../look/states';
import { brief } from '../look/words';
import { About } from './about';
import { Reasons } from './remedy';
import { Rerun } from './rerun';

const MOST = 50;

/** What a reviewer does: see what was checked, rerun steps, write. */
export function ReviewSection(): JSX.Element {
  const { model, commands, trans } = useContext();
  const project = useStore(model.project);
  const fault = useStore(model.review.fault);
  const isChecked = useStore(model.jobs.all, all => all.get('reproduction')?.state === 'done');
  if (!project) {
    return <p className="vb-Hint">{trans.__('Open a project to review it.')}</p>;
  }
  return (
    <div className="vb-Review">
      {fault && (
        <p role="alert" className="vb-Trouble">
          {brief(fault.text, 2000)} {fault.action && <code>{brief(fault.action)}</code>}
        </p>
      )}
      <Checked />
      <Reruns />
      <section>
        <h4>{trans.__('Your review')}</h4>
        <Action
          primary
          disabled={!isChecked}
          onClick={() => void commands.execute(CommandIDs.review)}
        >
          {trans.__('Write a review…')}
        </Action>
      </section>
    </div>
  );
}

function Checked(): JSX.Element {
  const { model, commands, trans } = useContext();
  const job = useStore(model.jobs.all, all => all.get('reproduction'));
  const result = job?.state === 'done' ? (job.result as IReproduction) : null;
  return (
    <section aria-busy={job?.state === 'running'}>
      <h4>{trans.__('What was checked')}</h4>
      <p role="status">
        {result ? brief(result.summary, 1000) : job?.state === 'running' && trans.__('Checking…')}{' '}
        {job?.state === 'running' && brief(job.text, 200)}
      </p>
      {job?.error && (
        <p role="alert" className="vb-Trouble">
          {brief(job.error.text, 2000)}
        </p>
      )}
      {result && (
        <>
          <ol className="vb-Tiers">
            {result.tiers.map(tier => (
              <Tier key={tier.tier} tier={tier} />
            ))}
          </ol>
          <About about={result.about} trans={trans} />
        </>
      )}
      {job && job.state !== 'running' && (
        <Action
          className="vb-mod-small"
          title={trans.__('Files, packages and container image; this may take a while')}
          onClick={() => void commands.execute(CommandIDs.check)}
        >
          {trans.__('Check everything again')}
        </Action>
      )}
    </section>
  );
}

function Tier(props: { tier: ITier }): JSX.Element {
  const { trans, table } = useContext();
  const { tier, state, line, problems, warnings } = props.tier;
  const names = [
    trans.__('Files (MANIFEST.sha256)'),
    trans.__('Packages (requirements.lock)'),
    trans.__('Container image')
  ];
  return (
    <li>
      <span className="vb-Tiers-head">
        <span>{names[tier - 1] ?? String(tier)}</span> <Badge look={lookOf(table.tier, state)} />
      </span>
      {state !== 'skipped' && <span dir="auto">{brief(line, 2000)}</span>}
      {problems.length > 0 && <Reasons reasons={problems.slice(0, MOST)} />}
      {problems.length > MOST && <span>{trans.__('and %1 more', problems.length - MOST)}</span>}
      {warnings.map((text, index) => (
        <span key={index} dir="auto">
          {brief(text, 2000)}
        </span>
      ))}
    </li>
  );
}

function Reruns(): JSX.Element {
  const { model, trans } = useContext();
  const reruns = useStore(model.review.reruns);
  const steps = useStore(model.status.value, status => status?.steps);
  const job = useStore(model.jobs.all, all => all.get('rerun'));
  const name = (slug: string): string => steps?.find(step => step.slug === slug)?.name ?? slug;
  return (
    <section aria-busy={job?.state === 'running'}>
      <h4>{trans.__('Steps run again')}</h4>
      <p role="status">
        {job?.state === 'running' ? `${trans.__('Running…')} ${brief(job.text, 200)}` : ''}
      </p>
      {reruns.size ? (
        <ul className="vb-Reruns">
          {[...reruns].map(([slug, result]) => (
            <li key={slug}>
              <strong dir="auto">{brief(name(slug), 120)}</strong>
              <Rerun result={result} />
            </li>
          ))}
        </ul>
      ) : (
        <p>{trans.__('Open a step and choose “Rerun and compare”.')}</p>
      )}
    </section>
  );
}
