import * as React from 'react';
import type { IFault, IProjects } from '../api/answers';
import { CommandIDs } from '../ids';
import { useContext, useReviewing, useStore } from '../look/hooks';
import { Action } from '../look/pieces';
import { brief, visible } from '../look/words';

/** What to do where there is no project yet. */
export function Empty(): JSX.Element {
  const { model } = useContext();
  const projects = useStore(model.projects);
  const fault = useStore(model.fault);
  if (fault) {
    return fault.status === 404 ? <NoServer /> : <Faulty fault={fault} />;
  }
  return projects ? <NoProject projects={projects} /> : <div aria-busy="true" />;
}

function NoServer(): JSX.Element {
  const { trans } = useContext();
  return (
    <div className="vb-Empty">
      <h3>{trans.__('The server extension does not answer')}</h3>
      <p>{trans.__('The panel asks the Jupyter server; there the extension is not enabled.')}</p>
      <pre tabIndex={0}>jupyter server extension enable vaibify_lab</pre>
      <p>{trans.__('Then restart the server.')}</p>
    </div>
  );
}

function Faulty(props: { fault: IFault }): JSX.Element {
  const { commands, trans } = useContext();
  const { text, action } = props.fault;
  return (
    <div className="vb-Empty">
      <h3>{trans.__('The projects could not be listed')}</h3>
      <p role="alert">{brief(text, 2000)}</p>
      {action && <pre tabIndex={0}>{visible(action)}</pre>}
      <Action onClick={() => void commands.execute(CommandIDs.refresh)}>
        {trans.__('Try again')}
      </Action>
    </div>
  );
}

function NoProject(props: { projects: IProjects }): JSX.Element {
  const { trans } = useContext();
  const { here, refused, complete } = props.projects;
  const faults = refused.map(one => one.error);
  return (
    <div className="vb-Empty">
      <h3>{trans.__('No project here yet')}</h3>
      <p>
        {trans.__(
          'A project is a git repository with a workflow: steps, what they read and write, and how they are tested.'
        )}
      </p>
      {here?.error?.code === 'not-a-repository' ? (
        <NoRepository folder={here.contents} />
      ) : (
        <NoWorkflow folder={here?.contents ?? ''} fault={here?.error ?? null} />
      )}
      {faults.map((fault, index) => (
        <p key={index} role="alert" className="vb-Trouble">
          {brief(fault.text, 2000)} {fault.action && <code>{visible(fault.action)}</code>}
        </p>
      ))}
      {!complete && (
        <p>
          {trans.__('Not every folder was searched. Open a folder deeper in the file browser.')}
        </p>
      )}
    </div>
  );
}

function NoRepository(props: { folder: string }): JSX.Element {
  const { trans } = useContext();
  return (
    <>
      <p>
        {trans.__(
          'The open folder, %1, is in no git repository. In a terminal there, type:',
          folderName(props.folder)
        )}
      </p>
      <pre tabIndex={0}>git init</pre>
      <p>{trans.__('Or open the folder of a repository in the file browser.')}</p>
    </>
  );
}

function NoWorkflow(props: { folder: string; fault: IFault | null }): JSX.Element {
  const { commands, trans } = useContext();
  const isReviewing = useReviewing();
  if (props.fault) {
    const { text, action } = props.fault;
    return (
      <p role="alert" className="vb-Trouble">
        {brief(text, 2000)} {action && <code>{visible(action)}</code>}
      </p>
    );
  }
  if (isReviewing) {
    return <p>{trans.__('Open the folder of the project to review in the file browser.')}</p>;
  }
  return (
    <>
      <p>
        {trans.__(
          'The repository of the open folder, %1, has no workflow. This writes workflow.json, vaibify.yml, container.conf and requirements.in into it:',
          folderName(props.folder)
        )}
      </p>
      <Action primary onClick={() => void commands.execute(CommandIDs.init)}>
        {trans.__('Set up a project here')}
      </Action>
    </>
  );
}

function folderName(contents: string): string {
  return brief(contents || '/', 120);
}
