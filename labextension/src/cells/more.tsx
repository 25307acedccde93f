import * as React from 'react';
import type { ICell } from '../api/cells';
import { useContext } from '../look/hooks';
import { brief, visible } from '../look/words';

/** Why a cell stands as it does, and what differs. */
export function More(props: { cell: ICell; why: string }): JSX.Element {
  const { trans } = useContext();
  const { cell, why } = props;
  const texts = [...new Set([why, cell.text])].filter(Boolean);
  return (
    <div className="vb-Cell-more">
      {texts.map(text => (
        <p key={text}>{brief(text, 1000)}</p>
      ))}
      {cell.names.length > 0 && <p>{trans.__('Only the kernel has: %1', names(cell))}</p>}
      {cell.keys.length > 0 && (
        <p>{trans.__('Differs in workflow.json: %1', brief(cell.keys.join(', ')))}</p>
      )}
      {cell.diff && (
        <pre
          tabIndex={0}
          data-lm-suppress-shortcuts="true"
          aria-label={trans.__('From the script to the cell')}
        >
          {cell.diff.split('\n').map((line, index) => (
            <span key={index} className={KINDS[line.charAt(0)]}>
              {`${visible(line)}\n`}
            </span>
          ))}
        </pre>
      )}
    </div>
  );
}

const KINDS: Record<string, string | undefined> = { '+': 'vb-mod-added', '-': 'vb-mod-removed' };

function names(cell: ICell): string {
  return brief(cell.names.map(one => one.name).join(', '));
}
