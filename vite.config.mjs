// The page: dashboard/ becomes dist/dashboard/, which the API serves at /. While working on it: `npx vite`, beside a running
// `npm start`, whose data it shows.
import { defineConfig } from 'vite';

const running = 'http://127.0.0.1:8088';

// oxlint-disable-next-line import/no-default-export -- Vite reads nothing else
export default defineConfig({
  root: 'dashboard',
  base: './',
  publicDir: 'public',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': { target: running, changeOrigin: true, headers: { origin: running } } },
  },
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // the page's policy lets no image stand inside a style
  },
});
