import type { TranslationBundle } from '@jupyterlab/translation';
import type { IFileStatus, IStep } from '../api/answers';
import { lookOf, type IStates } from './states';
import { brief } from './words';

const MOST = 3;

/** What changed between two looks, in words for those who do not see it. */
export function changes(
  old: IFileStatus | null,
  now: IFileStatus | null,
  table: IStates,
  trans: TranslationBundle
): string {
  if (!old || !now || old.id !== now.id) {
    return '';
  }
  const before = new Map(old.steps.map(step => [step.slug, step]));
  const told = now.steps.flatMap(step => {
    const text = change(before.get(step.slug), step, table, trans);
    return text ? [text] : [];
  });
  if (told.length > MOST) {
    return trans.__('%1 steps changed', told.length);
  }
  return told.join('; ');
}

function change(
  old: IStep | undefined,
  now: IStep,
  table: IStates,
  trans: TranslationBundle
): string {
  if (!old || old === now) {
    return '';
  }
  const name = brief(now.name, 80);
  if (old.run !== now.run) {
    return `${name}: ${lookOf(table.run, now.run).label}`;
  }
  if (old.green !== now.green) {
    return now.green ? trans.__('%1: verified', name) : trans.__('%1: no longer verified', name);
  }
  return old.sUser === now.sUser ? '' : `${name}: ${lookOf(table.user, now.sUser).label}`;
}
