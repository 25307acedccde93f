import type { IStep } from './answers';

/** How a step cell stands to its step and script. */
export type Relation =
  'same' | 'new' | 'cell' | 'other' | 'both' | 'foreign' | 'duplicate' | 'wrong';

/** All cells of an editor, in order; those that are not code with an empty source. */
export interface ICells {
  language?: string;
  cells: { id: string; source: string }[];
}

/** What a person decides of a step that a cell becomes. */
export interface INewStep {
  name: string;
  directory: string;
  inputs: string[];
  data: string[];
  plots: string[];
}

/** A cell that is no step yet, the Markdown above it, its notebook's repository path. */
export interface IPlainCell {
  source: string;
  above: string;
  notebook: string;
}

/** A step cell, and what is true of its step. */
export interface ICell {
  /** Counts all cells, from 1. */
  number: number;
  name: string | null;
  slug: string | null;
  script: string | null;
  state: Relation;
  text: string;
  diff: string;
  keys: string[];
  /** Names that only the kernel has, and the cells that make them. */
  names: { name: string; cells: number[] }[];
  /** The slugs of edited cells that its step rests on. */
  behind: string[];
  report: IStep | null;
}
