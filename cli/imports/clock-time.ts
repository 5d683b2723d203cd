/**
 * "02:00", with its day where that is not today: an instant as the clock on the wall shows it. Pure.
 * @param timeZone IANA name; by default that of this machine
 */
export function clockTime(at: Date, now: Date, timeZone?: string): string {
  const day = (date: Date): string =>
    date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone });
  const time = at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone });
  return day(at) === day(now) ? time : `${day(at)}, ${time}`;
}
