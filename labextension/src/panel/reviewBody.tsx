import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import type { IAbout, IReviewWord } from '../api/answers';
import { Choice, Complaint, Line, Lines } from '../look/form';
import { About } from './about';

/** A reviewer's word over what was checked. */
export class ReviewBody extends ReactWidget {
  constructor(
    private readonly trans: TranslationBundle,
    private readonly about: IAbout,
    private readonly summary: string,
    by: string
  ) {
    super();
    this.draft = { verdict: '', by, text: '' };
    this.addClass('vb-Form');
  }

  /** The word as it can be sent; null, and said why, when something is missing. */
  word(): IReviewWord | null {
    const { verdict, by, text } = this.draft;
    if (!verdict) {
      this.complain(this.trans.__('Choose a verdict.'));
    } else if (!by.trim()) {
      this.complain(this.trans.__('Give the name that stands below it.'));
    } else if (!text.trim()) {
      this.complain(this.trans.__('Say why, in a sentence at least.'));
    } else {
      return { verdict, by: by.trim(), text };
    }
    return null;
  }

  complain(complaint: string): void {
    this.complaint = complaint;
    this.update();
  }

  protected render(): JSX.Element {
    const { trans, draft } = this;
    return (
      <>
        <Complaint text={this.complaint} />
        <div>
          <p>{this.summary}</p>
          <About about={this.about} trans={trans} />
        </div>
        <Choice
          legend={trans.__('Your verdict')}
          name="vb-review"
          value={draft.verdict}
          options={[
            ['holds', trans.__('It holds')],
            ['does-not-hold', trans.__('It does not hold')],
            ['undecided', trans.__('I cannot tell')]
          ]}
          onChange={verdict => this.put({ verdict })}
        />
        <Lines
          label={trans.__('Review')}
          value={draft.text}
          rows={8}
          longest={100_000}
          onChange={text => this.put({ text })}
        />
        <Line label={trans.__('Name')} value={draft.by} onChange={by => this.put({ by })} />
      </>
    );
  }

  private put(change: Partial<IReviewWord>): void {
    this.draft = { ...this.draft, ...change };
    this.update();
  }

  private draft: IReviewWord;
  private complaint = '';
}
