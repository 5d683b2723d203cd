import { dayStartMs } from '../instant.js';
import { zoneOffsetMs } from '../zoned-instant.js';
import type { Cell } from './sheet.js';

/** A cell as both formats write it. */
export type CellValue =
  | { readonly kind: 'empty' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'flag'; readonly is: boolean }
  /** `text` is `2026-11-21 09:30:05` or `2026-11-21`, and `serial` the same as a number of days. */
  | { readonly kind: 'moment' | 'day'; readonly text: string; readonly serial: number };

const dayMs = 24 * 60 * 60_000;
/** The number of 1970-01-01 in a spreadsheet. */
const epochSerial = 25_569;
/** 1 March 1900. Excel gives earlier days other numbers than other programs, because its calendar has a 29 February 1900. */
const minSerial = 61;
/** Spreadsheets keep 15 digits. */
const maxExact = 1e15;

const empty: CellValue = { kind: 'empty' };

/**
 * Returns what is written for a cell. Numbers and dates that spreadsheets cannot hold exactly become texts. Moments lose
 * their fraction of a second. Pure.
 */
export function cellValue(cell: Cell | undefined, timezone: string): CellValue {
  switch (typeof cell) {
    case 'string':
      return cell === '' ? empty : { kind: 'text', text: cell };
    case 'number':
      return numberValue(cell);
    case 'boolean':
      return { kind: 'flag', is: cell };
    default:
      if (cell === null || cell === undefined) return empty;
      return 'day' in cell ? dayValue(cell.day) : momentValue(cell.atMs, timezone);
  }
}

function numberValue(value: number): CellValue {
  if (!Number.isFinite(value)) return empty;
  const text = String(value === 0 ? 0 : value); // not "-0"
  return Number.isInteger(value) && Math.abs(value) >= maxExact ? { kind: 'text', text } : { kind: 'number', text };
}

function dayValue(day: string): CellValue {
  const ms = dayStartMs(day);
  return ms === undefined ? { kind: 'text', text: day } : serialValue('day', ms, day);
}

function momentValue(atMs: number, timezone: string): CellValue {
  const localMs = Math.floor((atMs + offsetMs(atMs, timezone)) / 1000) * 1000;
  const text = new Date(localMs).toISOString().slice(0, 'YYYY-MM-DDTHH:mm:ss'.length).replace('T', ' ');
  return serialValue('moment', localMs, text);
}

const quarterHourMs = 15 * 60_000;

/**
 * The offset of the last moment. Most moments of a sheet are of the same quarter of an hour as the one before, and since
 * 1972 no zone has changed its offset within one. Computing an offset takes 16 µs, most of the time of a row.
 */
let last = { timezone: '', quarter: Number.NaN, offsetMs: 0 };

function offsetMs(atMs: number, timezone: string): number {
  const quarter = Math.floor(atMs / quarterHourMs);
  if (last.quarter !== quarter || last.timezone !== timezone) {
    last = { timezone, quarter, offsetMs: zoneOffsetMs(atMs, timezone) };
  }
  return last.offsetMs;
}

function serialValue(kind: 'moment' | 'day', localMs: number, text: string): CellValue {
  const days = Math.floor(localMs / dayMs);
  const serial = days + epochSerial + (localMs - days * dayMs) / dayMs;
  return serial < minSerial ? { kind: 'text', text } : { kind, text, serial };
}
