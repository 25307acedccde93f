import { useVirtualizer } from '@tanstack/react-virtual';
import * as React from 'react';
import { CommandIDs } from '../ids';
import { useContext, useReviewing, useStore } from '../look/hooks';
import type { IStep } from '../api/answers';
import { Row } from './row';

const ROW = 30;
const NONE: IStep[] = [];

/** The steps, one row each; only those in sight are in the page. */
export function Steps(): JSX.Element {
  const { model, trans } = useContext();
  const steps = useStore(model.status.value, status => status?.steps ?? NONE);
  const open = useStore(model.step);
  const marked = useStore(model.marked);
  const scroller = React.useRef<HTMLDivElement>(null);
  const [active, setActive] = React.useState(0);
  const at = Math.min(active, Math.max(steps.length - 1, 0));
  const rows = useVirtualizer({
    count: steps.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
    initialRect: { width: 300, height: 600 },
    getItemKey: index => steps[index].slug
  });
  const onKeyDown = useKeys(steps, at, index => {
    setActive(index);
    rows.scrollToIndex(index);
  });
  React.useLayoutEffect(() => {
    const index = steps.findIndex(step => step.slug === open);
    if (index >= 0) {
      setActive(index);
      rows.scrollToIndex(index);
    }
    // only when another step was opened, not at every look; before any key that comes next
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [open]);
  const drawn = rows.getVirtualItems();
  const isDrawn = drawn.some(row => row.index === at);
  return (
    <div
      ref={scroller}
      className="vb-Steps"
      role="listbox"
      tabIndex={0}
      aria-label={trans.__('Steps')}
      aria-multiselectable="true"
      aria-activedescendant={isDrawn && steps.length ? id(steps[at]) : undefined}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {drawn.map(row => (
          <Row
            key={row.key}
            id={id(steps[row.index])}
            step={steps[row.index]}
            position={row.index + 1}
            count={steps.length}
            top={row.start}
            isActive={row.index === at}
            isOpen={steps[row.index].slug === open}
            isMarked={marked.has(steps[row.index].slug)}
          />
        ))}
      </div>
    </div>
  );
}

function id(step: IStep): string {
  return `vb-step-${encodeURIComponent(step.slug)}`;
}

/** What the keys do: arrows move, Enter opens, Space selects, R runs, S signs. */
function useKeys(
  steps: IStep[],
  at: number,
  move: (index: number) => void
): (event: React.KeyboardEvent) => void {
  const { model, commands } = useContext();
  const isReviewing = useReviewing();
  return event => {
    const step = steps[at];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const last = steps.length - 1;
    const doings: Record<string, () => unknown> = {
      ArrowDown: () => move(Math.min(at + 1, last)),
      ArrowUp: () => move(Math.max(at - 1, 0)),
      PageDown: () => move(Math.min(at + 10, last)),
      PageUp: () => move(Math.max(at - 10, 0)),
      Home: () => move(0),
      End: () => move(last),
      Enter: () => model.step.set(step.slug),
      ' ': () => model.marked.set(toggled(model.marked.value, step.slug)),
      r: () =>
        isReviewing
          ? commands.execute(CommandIDs.rerun, { step: step.slug })
          : commands.execute(CommandIDs.run, { mode: 'steps', steps: [step.slug] }),
      s: () => isReviewing || commands.execute(CommandIDs.signOff, { step: step.slug })
    };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (Object.hasOwn(doings, key)) {
      event.preventDefault();
      event.stopPropagation();
      doings[key]();
    }
  };
}

/** The set with a slug put in or taken out. */
export function toggled(marked: ReadonlySet<string>, slug: string): ReadonlySet<string> {
  const next = new Set(marked);
  if (!next.delete(slug)) {
    next.add(slug);
  }
  return next;
}
