import { render } from 'preact';
import { App } from './app.js';
import './style/base.css';
import './style/parts.css';
import './style/pages.css';

render(<App />, document.getElementById('desk')!);
