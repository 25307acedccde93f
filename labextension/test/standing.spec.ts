import { nullTranslator } from '@jupyterlab/translation';
import { expect, test } from 'vitest';
import type { IProject, IStep } from '../src/api/answers';
import type { ICell } from '../src/api/cells';
import { shownCells, standing } from '../src/cells/standing';
import { projectOf } from '../src/cells/where';
import { states } from '../src/look/states';

const trans = nullTranslator.load('vaibify_lab');
const table = states(trans);

function cell(number: number, slug: string, more: Partial<ICell> = {}): ICell {
  const report = { slug, name: slug, run: 'current' } as IStep;
  const plain = { name: slug, script: '', state: 'same', text: '', diff: '', keys: [], names: [] };
  return { ...plain, number, slug, behind: [], report, ...more } as ICell;
}

test('a green is shown only where cell, script and what they rest on are as they ran', () => {
  const found = [
    cell(1, 'clean', { state: 'cell', text: 'edited' }),
    cell(2, 'trend', { behind: ['clean'] }),
    cell(3, 'other')
  ];
  const shown = shownCells(found, ['a', 'b', 'c'], () => null);
  const words = [...shown.values()].map(one => standing(one, true, table, trans).look.label);
  expect(words).toEqual(['stale', 'stale', 'current']);
  const last = shown.get(3)!;
  expect(standing(last, false, table, trans).look.tone).toBe('quiet');
  expect(standing({ ...last, fault: 'gone' }, true, table, trans).look.label).toBe('unknown');
});

test.each(['other', 'both', 'foreign', 'duplicate', 'wrong', 'new', 'not known'])(
  'a cell that is %s is never green',
  state => {
    const shown = shownCells([cell(1, 'a', { state: state as 'new' })], ['a'], () => null).get(1)!;
    expect(standing(shown, true, table, trans).look.tone).not.toBe('good');
  }
);

test('a notebook is of the innermost project around it, of several there of the open one', () => {
  const at = (id: string, contents: string): IProject => ({ id, contents }) as IProject;
  const all = [at('top', ''), at('a1', 'a'), at('a2', 'a'), at('b', 'a/b')];
  expect(projectOf('a/n.ipynb', all, null)?.id).toBe('a1');
  expect(projectOf('a/n.ipynb', all, all[2])?.id).toBe('a2');
  expect(projectOf('a/b/n.ipynb', all, all[2])?.id).toBe('b');
  expect(projectOf('ab/n.ipynb', all, null)?.id).toBe('top');
  expect(projectOf('ab/n.ipynb', all.slice(1), null)).toBe(null);
});
