import * as React from 'react';
import type { IFileStatus } from '../api/answers';
import { changes } from '../look/changes';
import { useContext } from '../look/hooks';

/** Says aloud what changed. */
export function Announcer(): JSX.Element {
  const { model, table, trans } = useContext();
  const [text, setText] = React.useState('');
  React.useEffect(() => {
    let last = model.status.value.value;
    const onChange = (_: unknown, now: IFileStatus | null): void => {
      const told = changes(last, now, table, trans);
      last = now;
      if (told) {
        setText(told);
      }
    };
    model.status.value.changed.connect(onChange);
    return () => void model.status.value.changed.disconnect(onChange);
  }, [model, table, trans]);
  return (
    <div className="vb-Announcer" role="status" aria-live="polite">
      {text}
    </div>
  );
}
