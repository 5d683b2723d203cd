import { runDouble } from '../serve/run-double.js';
import { startCanvasDouble } from './start-canvas-double.js';

/** A Canvas for trying things out: `node tools/run-typescript.cjs sandbox/canvas/main.ts --port 8103`. */
runDouble('Canvas double', startCanvasDouble);
