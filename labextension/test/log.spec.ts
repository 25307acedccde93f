import { expect, test, vi } from 'vitest';
import { bounded, Log, type IEntry } from '../src/model/log';

function entry(id: number, text: string, notShown = 0): IEntry {
  return { id, event: 'output', step: 's', stream: 'stdout', text, outcome: null, notShown };
}

test('however much is printed, what is kept is bounded, and what is left out is counted', () => {
  vi.useFakeTimers();
  const log = new Log();
  for (let i = 0; i < 200; i += 1) {
    log.add({ event: 'output', step: 's', log: 'run-1/stdout', text: 'x'.repeat(64 * 1024) });
    vi.advanceTimersByTime(60);
  }
  vi.useRealTimers();
  const entries = log.entries.value;
  const kept = entries.reduce((sum, one) => sum + one.text.length, 0);
  expect(kept).toBeLessThan(500_000);
  expect(entries[0].event).toBe('gap');
  expect(entries[0].notShown + kept).toBe(200 * 64 * 1024);
  expect(log.whole.value.get('s')).toBe('run-1/stdout');
});

test('a small log is kept as it is', () => {
  const all = [entry(1, 'a'), entry(2, 'b', 5)];
  expect(bounded(all, 400_000)).toBe(all);
});

test('one entry that is too large is still shown', () => {
  const all = [entry(1, 'a'), entry(2, 'y'.repeat(1_000_000))];
  expect(bounded(all, 400_000).map(one => one.event)).toEqual(['gap', 'output']);
});
