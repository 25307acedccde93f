import type { TranslationBundle } from '@jupyterlab/translation';
import type { IReason, IStep } from '../api/answers';
import type { IBadge } from './states';
import { brief, when } from './words';

const MOST = 8;

/** What a badge says, why, and since when. */
export function whyOf(step: IStep, badge: IBadge, trans: TranslationBundle): string {
  const since = badge.time && trans.__('last time: %1', when(badge.time));
  return told(`${badge.name}: ${badge.look.label}`, about(step, badge.about), since);
}

/** The same of the run itself: what is about no badge. */
export function whyRun(
  step: IStep,
  label: string,
  badges: readonly IBadge[],
  trans: TranslationBundle
): string {
  const all = [...step.reasons, ...step.notes];
  const own = all.filter(one => !badges.some(badge => badge.about.test(one.code)));
  const since = step.since.run && trans.__('last run ended: %1', when(step.since.run));
  return told(label, own, since);
}

function about(step: IStep, pattern: RegExp): IReason[] {
  return [...step.reasons, ...step.notes].filter(one => pattern.test(one.code));
}

function told(title: string, why: IReason[], since: string | null): string {
  const lines = why.slice(0, MOST).map(one => brief(one.text, 200));
  return [title, ...lines, ...(since ? [since] : [])].join('\n');
}
