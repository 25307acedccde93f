import * as React from 'react';
import type { IRecord, IStepDetail } from '../api/answers';
import { CommandIDs } from '../ids';
import { useContext } from '../look/hooks';
import { Action } from '../look/pieces';
import { lookOf } from '../look/states';
import { brief, duration, short, when } from '../look/words';

/** The step's last run: when, how long, how it ended, where and from what. */
export function LastRun(props: { detail: IStepDetail }): JSX.Element {
  const { commands, trans } = useContext();
  const { record } = props.detail;
  return (
    <section>
      <h4>{trans.__('Last run')}</h4>
      {record ? (
        <>
          <Facts record={record} />
          <Action
            className="vb-mod-small"
            onClick={() => void commands.execute(CommandIDs.log, { run: record.run_id })}
          >
            {trans.__('Show its log')}
          </Action>
        </>
      ) : (
        <p>{trans.__('This step has not run.')}</p>
      )}
    </section>
  );
}

function Facts(props: { record: IRecord }): JSX.Element {
  const { trans, table } = useContext();
  const { record } = props;
  const isolation = lookOf(table.isolation, record.isolation).label;
  const facts: [string, string | null][] = [
    [trans.__('Outcome'), outcome(record)],
    [trans.__('Ended'), when(record.ended)],
    [trans.__('Took'), record.seconds === null ? null : duration(record.seconds)],
    [trans.__('By'), joined(record.person, record.machine?.host)],
    [trans.__('Where'), joined(record.engine?.kind, isolation)],
    [trans.__('Exit code'), record.exit_code === null ? null : String(record.exit_code)],
    [trans.__('Seed'), record.seed === null ? null : String(record.seed)],
    [trans.__('Commit'), record.commit && short(record.commit)],
    [trans.__('Fingerprint'), record.fingerprint && short(record.fingerprint)],
    [trans.__('Cached from'), record.cached_from]
  ];
  return (
    <dl className="vb-Facts">
      {facts.map(
        ([name, value]) =>
          value && (
            <React.Fragment key={name}>
              <dt>{name}</dt>
              <dd dir="auto">{brief(value)}</dd>
            </React.Fragment>
          )
      )}
    </dl>
  );
}

function outcome(record: IRecord): string {
  return record.reason ? `${record.outcome}: ${record.reason}` : record.outcome;
}

function joined(...parts: (string | undefined)[]): string {
  return parts.filter(Boolean).join(', ');
}
