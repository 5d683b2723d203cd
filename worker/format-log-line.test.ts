import { formatLogLine } from './format-log-line.js';

/** Of this instant in the time zone of whoever runs the test. */
const at = new Date(2026, 10, 21, 9, 2, 7);
const line = (more: object): string =>
  JSON.stringify({ level: 30, time: at.toISOString(), msg: 'it happened', ...more });

describe('a line of the log for a person', () => {
  it('has local time, level, message and the facts as pairs', () => {
    expect(formatLogLine(line({ level: 40, msg: 'workspace waits: credential', workspace: 'acme', code: 4501 }))).toBe(
      '09:02:07 warn  workspace waits: credential (workspace acme, code 4501)',
    );
  });

  it.each([
    [20, '09:02:07 it happened'],
    [30, '09:02:07 it happened'],
    [40, '09:02:07 warn  it happened'],
    [50, '09:02:07 error it happened'],
    [60, '09:02:07 fatal it happened'],
  ])('names level %d only where it is above "info"', (level, text) => {
    expect(formatLogLine(line({ level }))).toBe(text);
  });

  it('leaves out facts that are absent, and shows lists and objects in short', () => {
    expect(formatLogLine(line({ code: null, pigeonholes: [101, 102], more: { n: 1 } }))).toBe(
      '09:02:07 it happened (pigeonholes [101,102], more {"n":1})',
    );
  });

  it('is one line without anything a terminal would act upon', () => {
    const text = formatLogLine(line({ msg: 'a\nb', error: 'x\u001b[2Jy\r\u0007\u009bz\u202e' }));
    expect(text).toBe('09:02:07 a?b (error x?[2Jy???z?)');
  });
});
