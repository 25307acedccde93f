const LONGEST = 500;

// Not the joiners: emoji are made with one, Persian is written with the other.
const HIDDEN = /(?![\t\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text with everything in it to be seen: control characters and marks of direction as signs. */
export function visible(text: string): string {
  return text.replace(HIDDEN, sign);
}

/** The same in one line, cut where it is too long for any screen. */
export function brief(text: string, longest = LONGEST): string {
  const line = visible(text.slice(0, longest + 1).replace(/[\t\n]/g, ' '));
  return text.length > longest ? `${line.slice(0, longest)}…` : line;
}

/** What a program printed, its line ends made plain. */
export function printed(text: string): string {
  return visible(text.replace(/\r\n?/g, '\n'));
}

function sign(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) {
    return String.fromCharCode(0x2400 + code);
  }
  return code === 0x7f ? '␡' : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** A number of bytes, for people. */
export function size(bytes: number, language?: string): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit: units[step],
    unitDisplay: step ? 'short' : 'long',
    maximumFractionDigits: 1
  }).format(bytes / 1000 ** step);
}

/** A time as it is said here; what is no time stays as it was. */
export function when(time: string, language?: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime())
    ? brief(time, 40)
    : date.toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' });
}

/** How long something took. */
export function duration(seconds: number, language?: string): string {
  const unit = seconds < 90 ? 'second' : seconds < 5400 ? 'minute' : 'hour';
  const divisor = { second: 1, minute: 60, hour: 3600 }[unit];
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit,
    unitDisplay: 'long',
    maximumFractionDigits: unit === 'second' && seconds < 10 ? 1 : 0
  }).format(seconds / divisor);
}

/** The beginning of a hash, as much as a person compares. */
export function short(hash: string): string {
  return hash.replace(/^sha256:/, '').slice(0, 12);
}
