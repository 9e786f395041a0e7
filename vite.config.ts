/** The page, built into dist/web: files that the hub serves as they are, nothing fetched from elsewhere. */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: 'src/web',
  base: '/',
  plugins: [react()],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    // Nothing is inlined: the hub's policy for the page allows no data: scripts and styles.
    assetsInlineLimit: 0,
    sourcemap: false,
  },
});
