import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import express, { type Handler, type Response, Router } from 'express'
import type { OptionsReader } from '#core/options/registry/index.ts'
import { policyOf, withNonce } from './console-policy.ts'
import { projectFolder } from './project-folder.ts'

const builtConsole = join(projectFolder, 'dist/client')

/** Serves the built console: files that carry their hash for a week, the shell anew each time. */
export function createConsoleFiles(options: OptionsReader): Handler {
  const router = Router()
  router.use(preferCompressed)
  router.use(
    '/assets',
    express.static(join(builtConsole, 'assets'), { maxAge: '7d', immutable: true, index: false, setHeaders }),
  )
  // A file of an older build is gone; the shell in its place would be taken for a script.
  router.use('/assets', (_req, _res, next) => next('router'))
  const files = express.static(builtConsole, { maxAge: '7d', index: false, setHeaders })
  router.use((req, res, next) => (namesPage(req.path) ? next() : files(req, res, next)))
  const readShell = createShellReader(join(builtConsole, 'index.html'))
  router.get(['/', '/*path'], async (_req, res) => {
    const shell = await readShell()
    if (shell === null) {
      res.status(503).type('text').send('The console has not been built. Run npm run build.')
      return
    }
    sendShell(res, shell, options)
  })
  return router
}

const compressions = [
  { encoding: 'br', ending: '.br' },
  { encoding: 'gzip', ending: '.gz' },
]

/** The build leaves compressed copies beside its files; whoever takes one gets it. */
const preferCompressed: Handler = (req, res, next) => {
  if (!/\.(js|css|svg|json)$/.test(req.path)) return next()
  res.vary('accept-encoding')
  const path = join(builtConsole, req.path)
  const found = compressions.find(
    ({ encoding, ending }) => req.acceptsEncodings(encoding) !== false && existsSync(`${path}${ending}`),
  )
  if (found) req.url = req.url.replace(req.path, `${req.path}${found.ending}`)
  next()
}

function setHeaders(res: ServerResponse, path: string): void {
  res.setHeader('x-content-type-options', 'nosniff')
  const compressed = compressions.find(({ ending }) => path.endsWith(ending))
  if (!compressed) return
  res.setHeader('content-encoding', compressed.encoding)
  ;(res as Response).type(extname(path.slice(0, -compressed.ending.length)))
}

/** A page that is asked for by its file's name, however that is written, is the shell too, with its policy. */
function namesPage(path: string): boolean {
  try {
    return /\.html?[/.\s]*$/i.test(decodeURIComponent(path))
  } catch {
    return false
  }
}

const pollMs = 20
const mostPolls = 100

/**
 * Reads the shell anew each time: a build beneath a running process takes away the scripts that an older shell names. One that has been there
 * is waited for, since a build that takes its place leaves none for a moment.
 */
function createShellReader(path: string): () => Promise<string | null> {
  let wasThere = false
  return async () => {
    for (let polls = 0; ; polls += 1) {
      const shell = await readFile(path, 'utf8').catch(() => null)
      if (shell !== null) {
        wasThere = true
        return shell
      }
      if (!wasThere || polls === mostPolls) return null
      await setTimeout(pollMs)
    }
  }
}

/**
 * The page with the operator's own head HTML, CSS and JS. Only scripts that carry this reply's nonce run, which theirs are
 * given, and those that the policy names; what ends up in the page by other ways does not.
 */
export function sendShell(res: Response, shell: string, options: OptionsReader): void {
  const nonce = randomBytes(16).toString('base64')
  const css = options.get('global_css')
  const js = options.get('global_js')
  const head = [
    withNonce(options.get('custom_head_html'), nonce),
    css === '' ? '' : `<style>${css.replaceAll('</style', '<\\/style')}</style>`,
    js === '' ? '' : `<script nonce="${nonce}">${js.replaceAll('</script', '<\\/script')}</script>`,
  ].join('')
  res.setHeader('content-security-policy', policyOf(nonce, options))
  res.setHeader('x-content-type-options', 'nosniff')
  res.setHeader('referrer-policy', 'same-origin')
  res.setHeader('x-frame-options', 'SAMEORIGIN')
  res.setHeader('cache-control', 'no-cache')
  res.type('html').send(
    shell
      .replaceAll('__SITE_NAME__', () => escapeHtml(options.get('SystemName')))
      // The build has given it to every script of its own.
      .replaceAll('__CSP_NONCE__', nonce)
      // Last, since nothing of what the operator wrote is to be replaced.
      .replace('<!--custom-head-->', () => head),
  )
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)
