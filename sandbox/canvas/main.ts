import { runDouble } from '../serve/run-double.js';
import { startCanvasDouble } from './start-canvas-double.js';

/** Runs the Canvas double as a program: `node tools/run-typescript.cjs sandbox/canvas/main.ts --port 8103`. */
runDouble('Canvas double', startCanvasDouble);
