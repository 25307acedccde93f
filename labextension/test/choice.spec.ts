import { nullTranslator } from '@jupyterlab/translation';
import { expect, test } from 'vitest';
import type { IProjects } from '../src/api/answers';
import { chosen } from '../src/model/choice';
import { remedyOf } from '../src/panel/remedy';

const found = {
  projects: ['a', 'b', 'c'].map(id => ({ id })),
  here: { projects: ['c'] }
} as unknown as IProjects;

test('the open project stays, else the remembered one, else that of the folder, else the first', () => {
  expect(chosen(found, 'b', 'a')!.id).toBe('b');
  expect(chosen(found, 'gone', 'a')!.id).toBe('a');
  expect(chosen(found, null, 'gone')!.id).toBe('c');
  expect(chosen({ ...found, here: undefined }, null, null)!.id).toBe('a');
  expect(chosen({ ...found, projects: [] }, 'a', null)).toBeNull();
});

test('a remedy is a button only where the whole command is one of ours', () => {
  const trans = nullTranslator.load('vaibify_lab');
  const command = (action: string): unknown => {
    const remedy = remedyOf(action, trans);
    return remedy && [remedy.command, remedy.args];
  };
  expect(command('jupyter vaibify run fit')).toEqual([
    'vaibify:run',
    { mode: 'steps', steps: ['fit'] }
  ]);
  expect(command('jupyter vaibify run')).toEqual(['vaibify:run', { mode: 'stale' }]);
  expect(command('jupyter vaibify build')).toEqual(['vaibify:build', {}]);
  for (const other of ['git init', 'jupyter vaibify build --push REF', 'x; jupyter vaibify run']) {
    expect(command(other)).toBeNull();
  }
});
