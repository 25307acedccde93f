import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import type { IToSign } from '../api/answers';
import { Choice, Complaint, Line, Lines } from '../look/form';
import { short, size, visible } from '../look/words';

interface IDraft {
  verdict: string;
  by: string;
  note: string;
}

/** What is signed, and the person's word over it. */
export class SignOffBody extends ReactWidget {
  constructor(
    private readonly trans: TranslationBundle,
    public toSign: IToSign,
    name: string
  ) {
    super();
    this.draft = { verdict: '', by: name, note: '' };
    this.addClass('vb-Form');
    this.addClass('vb-SignOff');
  }

  /** The word as it can be recorded; null, and said why, when something is missing. */
  word(): IDraft | null {
    const { verdict, by } = this.draft;
    if (!verdict) {
      this.complain(this.trans.__('Say whether the step passes or fails.'));
    } else if (!by.trim()) {
      this.complain(this.trans.__('Give the name that vouches for it.'));
    } else {
      return { ...this.draft, by: by.trim() };
    }
    return null;
  }

  /** Show other bytes than before, and why. */
  replace(toSign: IToSign, complaint: string): void {
    this.before = this.toSign.hashes;
    this.toSign = toSign;
    this.draft = { ...this.draft, verdict: '' };
    this.complain(complaint);
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
        <Signed trans={trans} toSign={this.toSign} before={this.before} />
        <Choice
          legend={trans.__('Your verdict')}
          name="vb-verdict"
          value={draft.verdict}
          options={[
            ['passed', trans.__('Pass')],
            ['failed', trans.__('Fail')]
          ]}
          onChange={verdict => this.put({ verdict })}
        />
        <Line label={trans.__('Name')} value={draft.by} onChange={by => this.put({ by })} />
        <Lines
          label={trans.__('Note')}
          value={draft.note}
          rows={2}
          longest={10_000}
          onChange={note => this.put({ note })}
        />
      </>
    );
  }

  private put(change: Partial<IDraft>): void {
    this.draft = { ...this.draft, ...change };
    this.update();
  }

  private draft: IDraft;
  private complaint = '';
  private before: Record<string, string> | null = null;
}

function Signed(props: {
  trans: TranslationBundle;
  toSign: IToSign;
  before: Record<string, string> | null;
}): JSX.Element {
  const { trans, toSign, before } = props;
  return (
    <div
      className="vb-SignOff-files"
      tabIndex={0}
      role="group"
      aria-label={trans.__('What is signed')}
    >
      <table>
        <caption>{trans.__('What is signed: these bytes')}</caption>
        <thead>
          <tr>
            <th scope="col">{trans.__('File')}</th>
            <th scope="col">{trans.__('Size')}</th>
            <th scope="col">SHA-256</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(toSign.hashes).map(([path, hash]) => (
            <tr key={path} className={before && before[path] !== hash ? 'vb-mod-new' : undefined}>
              <td>{visible(path)}</td>
              <td>{path in toSign.bytes ? size(toSign.bytes[path]) : ''}</td>
              <td title={hash}>
                <code>{short(hash)}</code>
                {before && before[path] !== hash && <em> {trans.__('new')}</em>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
