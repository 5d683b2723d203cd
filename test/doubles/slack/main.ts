import { runDouble } from '../serve/run-double.js';
import { startSlackDouble } from './start-slack-double.js';

/** Runs the Slack double by itself, with its one channel and its one token: see README.md. */
runDouble('Slack double', startSlackDouble);
