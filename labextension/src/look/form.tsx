import * as React from 'react';
import { brief } from './words';

/** What is wrong with what was given; read aloud when it appears. */
export function Complaint(props: { text: string }): JSX.Element {
  return (
    <div role="alert" className="vb-Form-complaint">
      {props.text && brief(props.text, 1000)}
    </div>
  );
}

/** One of a few, to be chosen. */
export function Choice(props: {
  legend: string;
  name: string;
  value: string;
  options: readonly (readonly [value: string, label: string])[];
  onChange: (value: string) => void;
}): JSX.Element {
  return (
    <fieldset className="vb-Form-choice">
      <legend>{props.legend}</legend>
      {props.options.map(([value, label]) => (
        <label key={value}>
          <input
            type="radio"
            name={props.name}
            checked={props.value === value}
            onChange={() => props.onChange(value)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

/** A line of text. */
export function Line(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}): JSX.Element {
  return (
    <label>
      {props.label}
      <input
        className="jp-mod-styled"
        value={props.value}
        maxLength={200}
        onChange={event => props.onChange(event.target.value)}
      />
    </label>
  );
}

/** Lines of text. */
export function Lines(props: {
  label: string;
  value: string;
  rows: number;
  longest: number;
  onChange: (value: string) => void;
}): JSX.Element {
  return (
    <label>
      {props.label}
      <textarea
        className="jp-mod-styled"
        value={props.value}
        rows={props.rows}
        maxLength={props.longest}
        onChange={event => props.onChange(event.target.value)}
      />
    </label>
  );
}
