import { lazily } from './lazy.js';

/** A chart over time, whose code and library are loaded when it is first shown. */
export const ActivityChart = lazily(async () => (await import('./activity-chart.js')).ActivityPanel);
