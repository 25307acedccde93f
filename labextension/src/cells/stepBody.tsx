import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import type { INewStep } from '../api/cells';
import { Complaint, Line, Lines } from '../look/form';

const FILES = ['inputs', 'data', 'plots'] as const;
type Draft = Record<keyof INewStep, string>;

/** What a cell is as a step: proposed, and changed by the person. */
export class StepBody extends ReactWidget {
  constructor(
    private readonly trans: TranslationBundle,
    proposal: INewStep,
    private readonly hint: string
  ) {
    super();
    const [inputs, data, plots] = FILES.map(key => proposal[key].join('\n'));
    this.draft = { name: proposal.name, directory: proposal.directory, inputs, data, plots };
    this.addClass('vb-Form');
  }

  /** What was decided; null, and said why, when there is no name. */
  step(): INewStep | null {
    const { name, directory } = this.draft;
    if (!name.trim()) {
      this.complain(this.trans.__('Give the step a name.'));
      return null;
    }
    const [inputs, data, plots] = FILES.map(key => paths(this.draft[key]));
    return { name: name.trim(), directory: directory.trim(), inputs, data, plots };
  }

  complain(complaint: string): void {
    this.complaint = complaint;
    this.update();
  }

  protected render(): JSX.Element {
    const { trans } = this;
    const told = trans.__(
      'The cell gets a first line that makes it a step, and its code becomes a script in the project. Nothing is run yet.'
    );
    return (
      <>
        <Complaint text={this.complaint} />
        <p>{told}</p>
        {this.hint && <p>{this.hint}</p>}
        <Line label={trans.__('Name')} {...this.field('name')} />
        <Line
          label={trans.__('Runs in the folder (empty: the root)')}
          {...this.field('directory')}
        />
        {this.files('inputs', trans.__('Reads these files, one a line'))}
        {this.files('data', trans.__('Writes these data files'))}
        {this.files('plots', trans.__('Writes these plots'))}
      </>
    );
  }

  private files(key: (typeof FILES)[number], label: string): JSX.Element {
    const rows = Math.min(Math.max(2, this.draft[key].split('\n').length), 6);
    return <Lines label={label} rows={rows} longest={100_000} {...this.field(key)} />;
  }

  private field(key: keyof INewStep): { value: string; onChange: (value: string) => void } {
    return {
      value: this.draft[key],
      onChange: value => {
        this.draft = { ...this.draft, [key]: value };
        this.update();
      }
    };
  }

  private draft: Draft;
  private complaint = '';
}

function paths(text: string): string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean);
}
