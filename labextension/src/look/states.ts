import type { TranslationBundle } from '@jupyterlab/translation';
import type { IStep, RunState } from '../api/answers';
import type { Shape } from './marks';

/** How a state looks: never by colour alone. */
export interface ILook {
  readonly shape: Shape;
  readonly tone: 'good' | 'bad' | 'warn' | 'busy' | 'quiet';
  readonly label: string;
}

type Table = Record<string, ILook>;

/** The one table from a state to what is drawn; the server decides which state it is. */
export interface IStates {
  readonly run: Table;
  readonly test: Table;
  readonly user: Table;
  readonly upstream: Table;
  readonly rung: Table;
  readonly file: Table;
  readonly pin: Table;
  readonly git: Table;
  readonly isolation: Table;
  readonly here: Table;
  readonly tier: Table;
  readonly verdict: Table;
  readonly cell: Table;
}

/** The table in the person's language. */
export function states(trans: TranslationBundle): IStates {
  return {
    run: {
      running: { shape: 'play', tone: 'busy', label: trans.__('running') },
      queued: { shape: 'dots', tone: 'busy', label: trans.__('queued') },
      waiting: { shape: 'pause', tone: 'busy', label: trans.__('waiting for you') },
      unknown: { shape: 'question', tone: 'warn', label: trans.__('unknown') },
      interrupted: { shape: 'slash', tone: 'warn', label: trans.__('interrupted') },
      failed: { shape: 'cross', tone: 'bad', label: trans.__('failed') },
      'never-run': { shape: 'ring', tone: 'quiet', label: trans.__('never run') },
      stale: { shape: 'bang', tone: 'warn', label: trans.__('stale') },
      current: { shape: 'tick', tone: 'good', label: trans.__('current') }
    },
    test: {
      none: { shape: 'dash', tone: 'quiet', label: trans.__('none') },
      untested: { shape: 'ring', tone: 'warn', label: trans.__('untested') },
      passed: { shape: 'tick', tone: 'good', label: trans.__('passed') },
      failed: { shape: 'cross', tone: 'bad', label: trans.__('failed') },
      unknown: { shape: 'question', tone: 'warn', label: trans.__('unknown') }
    },
    user: {
      untested: { shape: 'ring', tone: 'warn', label: trans.__('not signed off') },
      passed: { shape: 'tick', tone: 'good', label: trans.__('signed off') },
      failed: { shape: 'cross', tone: 'bad', label: trans.__('rejected') },
      unknown: { shape: 'question', tone: 'warn', label: trans.__('unknown') }
    },
    upstream: {
      true: { shape: 'bang', tone: 'warn', label: trans.__('modified') },
      false: { shape: 'dash', tone: 'quiet', label: trans.__('unmodified') }
    },
    rung: {
      true: { shape: 'tick', tone: 'good', label: trans.__('met') },
      false: { shape: 'ring', tone: 'warn', label: trans.__('not met') },
      unknown: { shape: 'question', tone: 'quiet', label: trans.__('unknown') }
    },
    file: {
      verified: { shape: 'tick', tone: 'good', label: trans.__('verified') },
      changed: { shape: 'bang', tone: 'warn', label: trans.__('changed') },
      missing: { shape: 'cross', tone: 'bad', label: trans.__('missing') },
      new: { shape: 'ring', tone: 'quiet', label: trans.__('new') },
      link: { shape: 'cross', tone: 'bad', label: trans.__('a symbolic link') },
      'not-regular': { shape: 'cross', tone: 'bad', label: trans.__('not a regular file') },
      unreadable: { shape: 'question', tone: 'warn', label: trans.__('unreadable') },
      changing: { shape: 'dots', tone: 'busy', label: trans.__('changing') },
      'lfs-pointer': { shape: 'bang', tone: 'warn', label: trans.__('LFS pointer') }
    },
    pin: {
      verified: { shape: 'tick', tone: 'good', label: trans.__('verified') },
      modified: { shape: 'bang', tone: 'warn', label: trans.__('modified') },
      missing: { shape: 'cross', tone: 'bad', label: trans.__('missing') },
      unknown: { shape: 'question', tone: 'warn', label: trans.__('unknown') },
      'no-pins': { shape: 'ring', tone: 'quiet', label: trans.__('nothing pinned yet') }
    },
    git: {
      committed: { shape: 'tick', tone: 'good', label: trans.__('committed') },
      modified: { shape: 'bang', tone: 'warn', label: trans.__('modified') },
      staged: { shape: 'ring', tone: 'warn', label: trans.__('staged') },
      untracked: { shape: 'ring', tone: 'warn', label: trans.__('untracked') },
      ignored: { shape: 'slash', tone: 'warn', label: trans.__('ignored by git') },
      filtered: { shape: 'bang', tone: 'warn', label: trans.__('altered by a git filter') },
      lfs: { shape: 'bang', tone: 'warn', label: trans.__('LFS pointer in git') },
      nested: { shape: 'bang', tone: 'warn', label: trans.__('in a nested repository') },
      'no-commit': { shape: 'ring', tone: 'warn', label: trans.__('no commit yet') }
    },
    here: {
      true: { shape: 'tick', tone: 'good', label: trans.__('on this machine') },
      false: { shape: 'ring', tone: 'warn', label: trans.__('not on this machine') },
      unknown: { shape: 'question', tone: 'warn', label: trans.__('unknown') }
    },
    isolation: {
      container: { shape: 'tick', tone: 'good', label: trans.__('in a container') },
      sandbox: { shape: 'ring', tone: 'quiet', label: trans.__('in a sandbox, no container') },
      none: { shape: 'ring', tone: 'warn', label: trans.__('with no walls, no container') },
      outside: { shape: 'ring', tone: 'warn', label: trans.__('outside the container') }
    },
    tier: {
      passed: { shape: 'tick', tone: 'good', label: trans.__('passed') },
      failed: { shape: 'cross', tone: 'bad', label: trans.__('failed') },
      skipped: { shape: 'dash', tone: 'quiet', label: trans.__('not checked') },
      'not-checkable': {
        shape: 'question',
        tone: 'warn',
        label: trans.__('cannot be checked here')
      }
    },
    verdict: {
      identical: { shape: 'tick', tone: 'good', label: trans.__('identical') },
      'noise only': { shape: 'tick', tone: 'good', label: trans.__('noise only') },
      'written otherwise': {
        shape: 'tick',
        tone: 'good',
        label: trans.__('same values, written otherwise')
      },
      'inside tolerance': { shape: 'tick', tone: 'good', label: trans.__('inside tolerance') },
      different: { shape: 'cross', tone: 'bad', label: trans.__('different') },
      new: { shape: 'cross', tone: 'bad', label: trans.__('new') },
      'not produced': { shape: 'cross', tone: 'bad', label: trans.__('not produced') }
    },
    cell: {
      looking: { shape: 'dots', tone: 'quiet', label: trans.__('edited') },
      new: { shape: 'ring', tone: 'quiet', label: trans.__('no such step yet') },
      cell: { shape: 'bang', tone: 'warn', label: trans.__('cell edited') },
      other: {
        shape: 'bang',
        tone: 'warn',
        label: trans.__("cell differs from the step's script")
      },
      both: { shape: 'bang', tone: 'warn', label: trans.__('cell and script edited') },
      foreign: { shape: 'bang', tone: 'warn', label: trans.__('step that no cell wrote') },
      duplicate: { shape: 'bang', tone: 'warn', label: trans.__('another cell is this step') },
      wrong: { shape: 'cross', tone: 'bad', label: trans.__('the first line cannot be read') }
    }
  };
}

/** The look of a state; of one that this table does not know, that it is not known. */
export function lookOf(table: Table, state: string | boolean): ILook {
  const key = String(state);
  return Object.hasOwn(table, key) ? table[key] : { shape: 'question', tone: 'warn', label: key };
}

/** A badge of a step: its letter, its name, its look. */
export interface IBadge {
  readonly letter: string;
  /** Which reasons are about it. */
  readonly about: RegExp;
  /** The time of what it rests on. */
  readonly time: string | null;
  readonly name: string;
  readonly look: ILook;
}

/** The five badges of a step, in their order. */
export function badges(step: IStep, table: IStates, trans: TranslationBundle): IBadge[] {
  const { tests, user } = step.since;
  const test = (letter: string, name: string, category: string, state: string): IBadge => {
    const about = new RegExp(`^(${category}-|marker-)`);
    return { letter, name, look: lookOf(table.test, state), about, time: tests };
  };
  return [
    test('I', trans.__('Integrity tests'), 'integrity', step.sIntegrity),
    test('Q', trans.__('Qualitative tests'), 'qualitative', step.sQualitative),
    test('N', trans.__('Quantitative tests'), 'quantitative', step.sQuantitative),
    {
      letter: 'U',
      name: trans.__('You'),
      look: lookOf(table.user, step.sUser),
      about: /^(sign|unsigned|not-signed)/,
      time: user
    },
    {
      letter: '^',
      name: trans.__('Upstream'),
      look: lookOf(table.upstream, step.bUpstreamModified),
      about: /^upstream-/,
      time: null
    }
  ];
}

/** Whether a step's run has not ended. */
export function isLive(run: RunState): boolean {
  return run === 'running' || run === 'queued' || run === 'waiting';
}
