import { Box } from '@chakra-ui/react'
import { useEffect, useRef } from 'react'
import { currentLanguage } from '../i18n/language.ts'
import { useStatus } from '../lib/status.ts'
import { useIsDark } from '../theme/theme-mode.ts'

type Widget = {
  render: (element: HTMLElement, options: Record<string, unknown>) => string
  remove: (id: string) => void
}

const address = 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit'

let loading: Promise<Widget> | undefined

const load = (): Promise<Widget> => {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = address
    script.addEventListener('load', () => resolve((window as unknown as { turnstile: Widget }).turnstile))
    script.addEventListener('error', () => {
      loading = undefined
      script.remove()
      reject(new Error('the bot check could not be fetched'))
    })
    document.head.append(script)
  })
  return loading
}

type BotCheckProps = {
  /** Gets the answer, and "" when it has run out. */
  onAnswer: (answer: string) => void
  /** Gets whether there can be no answer, since the script of the check did not come. */
  onMissing: (isMissing: boolean) => void
  /** An answer counts once: a new number here asks again, and fetches again what did not come. */
  attempt: number
}

/** The site's check for robots; nothing where it has none. */
export function BotCheck({ onAnswer, onMissing, attempt }: BotCheckProps) {
  const { turnstileCheck, turnstileSiteKey } = useStatus()
  const box = useRef<HTMLDivElement>(null)
  const form = useRef({ onAnswer, onMissing })
  form.current = { onAnswer, onMissing }
  const dark = useIsDark()
  const language = currentLanguage()
  useEffect(() => {
    if (!turnstileCheck) return
    let remove: (() => void) | undefined
    let current = true
    form.current.onAnswer('')
    form.current.onMissing(false)
    const draw = (widget: Widget) => {
      if (!current || !box.current) return
      const id = widget.render(box.current, {
        sitekey: turnstileSiteKey,
        theme: dark ? 'dark' : 'light',
        language: language === 'en' ? 'en' : 'zh-cn',
        size: 'flexible',
        callback: (token: string) => form.current.onAnswer(token),
        'expired-callback': () => form.current.onAnswer(''),
        'error-callback': () => form.current.onAnswer(''),
      })
      remove = () => widget.remove(id)
    }
    load().then(draw, () => current && form.current.onMissing(true))
    return () => {
      current = false
      remove?.()
    }
  }, [turnstileCheck, turnstileSiteKey, dark, language, attempt])
  return turnstileCheck ? <Box ref={box} minH="65px" /> : null
}
