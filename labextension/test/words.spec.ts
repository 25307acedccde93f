import { expect, test } from 'vitest';
import { brief, duration, printed, short, size, visible, when } from '../src/look/words';

test('what cannot be seen becomes a sign', () => {
  expect(visible('a\u202eb\u0000\u001b[31mc\u007f\ufeff')).toBe('a⟨U+202E⟩b␀␛[31mc␡⟨U+FEFF⟩');
  expect(visible('line\n\ttab')).toBe('line\n\ttab');
});

test('joiners stay, or emoji and Persian fall apart', () => {
  expect(visible('👩\u200d🔬 می\u200cخواهم')).toBe('👩\u200d🔬 می\u200cخواهم');
});

test('markup and percent signs are text like any other', () => {
  expect(brief('<img src=x onerror=alert(1)> 100%')).toBe('<img src=x onerror=alert(1)> 100%');
});

test('a long text is one line and ends', () => {
  expect(brief('x'.repeat(5000))).toBe(`${'x'.repeat(500)}…`);
  expect(brief('a\nb\tc')).toBe('a b c');
  expect(brief('12345', 5)).toBe('12345');
});

test('a carriage return ends a line', () => {
  expect(printed('10%\r20%\r\nend')).toBe('10%\n20%\nend');
});

test('sizes, times and spans as people say them', () => {
  expect(size(0, 'en')).toBe('0 bytes');
  expect(size(1, 'en')).toBe('1 byte');
  expect(size(105282, 'en')).toBe('105.3 kB');
  expect(size(2.5e9, 'en')).toBe('2.5 GB');
  expect(duration(2.307, 'en')).toBe('2.3 seconds');
  expect(duration(600, 'en')).toBe('10 minutes');
  expect(duration(7200, 'en')).toBe('2 hours');
  expect(when('2026-11-28T03:01:33Z', 'en')).toContain('2026');
  expect(when('<b>', 'en')).toBe('<b>');
  expect(short('sha256:0123456789abcdef')).toBe('0123456789ab');
});
