import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Node looks aliases up in package.json "imports", and so does Vite: none are repeated here. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  // The server puts a fresh value in place of this word on every page it sends.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: fileURLToPath(new URL('../dist/client', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Else a group would draw in what the first load needs too, and be loaded with it.
          includeDependenciesRecursively: false,
          groups: [
            // Charts, Markdown and schemas are reached through lazy pages only; naming them keeps them out of the first load.
            {
              name: 'charts',
              // With everything that only they use: two chunks that need each other would begin in the wrong order.
              test: /node_modules[\\/](recharts|d3-|internmap|victory-vendor|@reduxjs|redux|react-redux|reselect|immer|es-toolkit|eventemitter3|decimal\.js-light|tiny-invariant|clsx)/,
              priority: 30,
            },
            { name: 'markdown', test: /node_modules[\\/](marked|dompurify)/, priority: 30 },
            { name: 'forms', test: /node_modules[\\/](react-hook-form|@hookform|zod)/, priority: 30 },
            {
              name: 'react',
              test: /node_modules[\\/](react|react-dom|react-is|scheduler|use-sync-external-store)[\\/]/,
              priority: 20,
            },
          ],
        },
      },
    },
  },
})
