import { t } from '../i18n/t.ts'
import { errorText, refusalCode, requestIdOf } from '../lib/errors.ts'
import { createStore } from '../lib/store.ts'

export type Toast = {
  id: number
  kind: 'success' | 'info' | 'warning' | 'error'
  title: string
  description?: string | undefined
  /** One way to go on, such as undoing. */
  action?: { label: string; onClick: () => void } | undefined
}

type More = Pick<Toast, 'description' | 'action'>

const mostShown = 4

export const toasts = createStore<readonly Toast[]>([])
let lastId = 0

export const dismiss = (id: number): void => toasts.set(toasts.get().filter((toast) => toast.id !== id))

function show(kind: Toast['kind'], title: string, more: More = {}): void {
  lastId += 1
  const same = (toast: Toast) => toast.kind === kind && toast.title === title && toast.description === more.description
  // The same message again replaces the first: a wall of one sentence says no more than one.
  toasts.set([...toasts.get().filter((toast) => !same(toast)), { id: lastId, kind, title, ...more }].slice(-mostShown))
}

/** Brief messages that need no answer. */
export const notify = {
  success: (title: string, more?: More): void => show('success', title, more),
  info: (title: string, more?: More): void => show('info', title, more),
  warning: (title: string, more?: More): void => show('warning', title, more),
  /** `title` says what was not done; the reason and the request id stand below it. */
  error: (error: unknown, title?: string): void => {
    const reason = typeof error === 'string' ? error : errorText(error)
    // A demonstration does nothing of it, and nothing is wrong.
    if (refusalCode(error) === 'demo.read_only') return show('info', reason)
    const id = requestIdOf(error)
    const quoted = id === undefined ? undefined : `${t('请求 ID')}: ${id}`
    if (title === undefined) show('error', reason, { description: quoted })
    else show('error', title, { description: [reason, quoted].filter(Boolean).join('\n') })
  },
}
