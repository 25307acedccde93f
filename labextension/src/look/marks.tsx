import * as React from 'react';

const PATHS = {
  tick: 'M3 8.5 6.5 12 13 4.5',
  cross: 'M4 4 12 12 M12 4 4 12',
  bang: 'M8 3 V9.5 M8 12 V13',
  ring: 'M8 3.5 A4.5 4.5 0 1 1 7.99 3.5 Z',
  dash: 'M4.5 8 H11.5',
  question: 'M5.5 6 A2.5 2.5 0 1 1 8 8.5 V10 M8 12.2 V13',
  slash: 'M8 3 A5 5 0 1 1 7.99 3 Z M4.6 11.4 11.4 4.6',
  play: 'M5.5 3.5 12 8 5.5 12.5 Z',
  pause: 'M5.5 4 V12 M10.5 4 V12',
  dots: 'M3.6 8 H3.8 M7.9 8 H8.1 M12.2 8 H12.4'
};

export type Shape = keyof typeof PATHS;

/** A shape in the colour of the text around it; what it means stands beside it, or in a label. */
export const Mark = React.memo(function Mark(props: { shape: Shape }): JSX.Element {
  return (
    <svg className="vb-Mark" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[props.shape]} />
    </svg>
  );
});
