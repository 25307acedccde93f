import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { asRefusal, type Refusal } from '../api/connection';
import { brief } from '../look/words';

const SHOWN = 140;

/** What went wrong, and what to do, in one text. */
export function sentence(refusal: Refusal | { text: string; action?: string | null }): string {
  return refusal.action ? `${refusal.text}\n${refusal.action}` : refusal.text;
}

/** Say what went wrong. JupyterLab cuts a notice after 140 characters: the rest is a click away. */
export function complain(
  trans: TranslationBundle,
  refusal: Refusal | { text: string; action?: string | null },
  kind: 'error' | 'warning' = 'error'
): void {
  const { text, action } = refusal;
  const all = [text, action].flatMap(one => (one ? [brief(one, 1000)] : [])).join(' — ');
  const read = (): void =>
    void showDialog({
      title: trans.__('Vaibify'),
      body: all,
      buttons: [Dialog.okButton({ label: trans.__('Close') })]
    });
  const actions = all.length > SHOWN ? [{ label: trans.__('Read all of it'), callback: read }] : [];
  Notification.emit(all, kind, { autoClose: 10_000, actions });
}

/** Do what a person asked; tell them when it was refused. */
export async function told<T>(trans: TranslationBundle, work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    complain(trans, asRefusal(error));
    return null;
  }
}
