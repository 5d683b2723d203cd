import { runDouble } from '../serve/run-double.js';
import { startLrsDouble } from './start-lrs-double.js';

/** Runs the LRS double as a program, with its default account; see README.md. */
runDouble('LRS double', startLrsDouble);
