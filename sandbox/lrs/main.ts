import { runDouble } from '../serve/run-double.js';
import { startLrsDouble } from './start-lrs-double.js';

/** Runs the LRS double by itself, with its one account: see README.md. */
runDouble('LRS double', startLrsDouble);
