import { nullTranslator } from '@jupyterlab/translation';
import { expect, test } from 'vitest';
import { badges, states } from '../src/look/states';
import { whyOf, whyRun } from '../src/look/why';
import { step } from './server';

const trans = nullTranslator.load('vaibify_lab');

test('a badge says its own reason and since when, the run the rest', () => {
  const one = step('fit', {
    sIntegrity: 'untested',
    reasons: [
      { code: 'code-changed', text: 'fit.py was changed' },
      { code: 'integrity-untested', text: 'integrity tests have not been run' },
      { code: 'not-signed', text: 'nobody has signed it off' },
      { code: 'upstream-stale', text: "upstream step 'raw' is stale" }
    ],
    since: { run: '2026-01-02T03:04:05Z', tests: '2025-06-07T08:09:10Z', user: null }
  });
  const all = badges(one, states(trans), trans);
  const [integrity, qualitative, , user, upstream] = all.map(badge =>
    whyOf(one, badge, trans).split('\n')
  );
  expect(integrity.slice(0, 2)).toEqual([
    'Integrity tests: untested',
    'integrity tests have not been run'
  ]);
  expect(integrity[2]).toContain('2025');
  expect(qualitative).toHaveLength(2);
  expect(user.slice(1)).toEqual(['nobody has signed it off']);
  expect(upstream.slice(1)).toEqual(["upstream step 'raw' is stale"]);
  const run = whyRun(one, 'stale', all, trans).split('\n');
  expect(run.slice(0, 2)).toEqual(['stale', 'fit.py was changed']);
  expect(run[2]).toContain('2026');
});
