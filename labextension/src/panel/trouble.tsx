import * as React from 'react';
import { useContext, useStore } from '../look/hooks';
import { brief, visible } from '../look/words';

/** That what is shown may be old, and what the project file's reader warned of. */
export function Trouble(): JSX.Element | null {
  const { model, trans } = useContext();
  const fault = useStore(model.status.fault);
  const project = useStore(model.project);
  const warnings = useStore(model.status.value, status => status?.warnings);
  const error = fault ?? project?.error;
  return (
    <>
      {error && (
        <div role="alert" className="vb-Trouble">
          {fault && <strong>{trans.__('What is shown may be old.')} </strong>}
          <span dir="auto">
            {error.where && `${brief(error.where)}: `}
            {brief(error.text, 2000)}
          </span>
          {error.action && <code className="vb-Remedy">{visible(error.action)}</code>}
        </div>
      )}
      {warnings && warnings.length > 0 && (
        <details className="vb-Warnings">
          <summary>{trans._n('%1 warning', '%1 warnings', warnings.length)}</summary>
          <ul>
            {warnings.map(warning => (
              <li key={warning} dir="auto">
                {brief(warning, 2000)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
