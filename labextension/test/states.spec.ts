import { nullTranslator } from '@jupyterlab/translation';
import { expect, test } from 'vitest';
import type { IStep } from '../src/api/answers';
import { changes } from '../src/look/changes';
import { badges, lookOf, states, type ILook } from '../src/look/states';
import { status, step } from './server';

const trans = nullTranslator.load('vaibify_lab');
const table = states(trans);

test('every state of the contract has a look', () => {
  expect(Object.keys(table.run).sort()).toEqual(
    ['running', 'queued', 'waiting', 'unknown', 'interrupted', 'failed', 'never-run']
      .concat(['stale', 'current'])
      .sort()
  );
  expect(Object.keys(table.test).sort()).toEqual(
    ['none', 'untested', 'passed', 'failed', 'unknown'].sort()
  );
  expect(Object.keys(table.user).sort()).toEqual(
    ['untested', 'passed', 'failed', 'unknown'].sort()
  );
  expect(Object.keys(table.file).sort()).toEqual(
    ['verified', 'changed', 'missing', 'new', 'link', 'not-regular', 'unreadable', 'changing']
      .concat(['lfs-pointer'])
      .sort()
  );
});

test('only what is verified is green, and no two states of a kind differ by colour alone', () => {
  const good = Object.entries(table.run).filter(([, look]) => look.tone === 'good');
  expect(good.map(([state]) => state)).toEqual(['current']);
  for (const kind of Object.values<Record<string, ILook>>({ ...table })) {
    const labels = Object.values(kind).map(look => look.label);
    expect(new Set(labels).size).toBe(labels.length);
  }
});

test('a state that is not known here is never green', () => {
  for (const state of ['toString', '__proto__', 'verified-by-magic']) {
    expect(lookOf(table.run, state)).toEqual({ shape: 'question', tone: 'warn', label: state });
  }
});

test('the badges are integrity, qualitative, quantitative, you, upstream', () => {
  const five = badges(step('a', { bUpstreamModified: true, sUser: 'failed' }), table, trans);
  expect(five.map(badge => `${badge.letter} ${badge.look.label}`)).toEqual([
    'I passed',
    'Q none',
    'N none',
    'U rejected',
    '^ modified'
  ]);
});

test('what changed is said, and many changes are counted', () => {
  const old = status([step('a'), step('b', { green: true }), step('c'), step('d')]);
  const say = (...steps: IStep[]): string => changes(old, status(steps), table, trans);
  expect(say(old.steps[0], old.steps[1])).toBe('');
  expect(say(step('a', { run: 'failed' }), step('b'))).toBe('a: failed; b: no longer verified');
  expect(say(step('a', { sUser: 'passed' }))).toBe('a: signed off');
  expect(say(...'abcd'.split('').map(slug => step(slug, { run: 'stale' })))).toBe(
    '4 steps changed'
  );
  expect(changes(null, old, table, trans)).toBe('');
  expect(changes(old, status([], { id: 'q' }), table, trans)).toBe('');
});
