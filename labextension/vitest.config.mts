import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [
    {
      // the builder gives an imported .svg as text: do the same here
      name: 'svg-as-text',
      enforce: 'pre',
      load(id) {
        return id.endsWith('.svg')
          ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))}`
          : undefined;
      }
    }
  ],
  test: {
    environment: 'jsdom',
    setupFiles: ['test/setup.ts'],
    cache: false, // what it would write makes pip build the extension again
    include: ['test/**/*.spec.{ts,tsx}'],
    // JupyterLab's packages are ES modules without "type": "module" and import .svg files:
    // node cannot load them as they are, vite can.
    server: { deps: { inline: [/@jupyterlab\//, /@jupyter\//, /@lumino\//, /@microsoft\//] } }
  }
});
