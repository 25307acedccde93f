import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { asRefusal, type Refusal } from '../api/connection';
import { brief } from '../look/words';

/** What went wrong, and what to do, in one text. */
export function sentence(refusal: Refusal | { text: string; action?: string | null }): string {
  return refusal.action ? `${refusal.text}\n${refusal.action}` : refusal.text;
}

/** Do what a person asked; tell them when it was refused. */
export async function told<T>(trans: TranslationBundle, work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    const refusal = asRefusal(error);
    Notification.error(brief(`${trans.__('Vaibify')}: ${sentence(refusal)}`), {
      autoClose: 10_000
    });
    return null;
  }
}
