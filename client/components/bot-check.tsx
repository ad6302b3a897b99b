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
      reject(new Error('the bot check could not be fetched'))
    })
    document.head.append(script)
  })
  return loading
}

type BotCheckProps = {
  /** Gets the answer, and "" when it has run out. */
  onAnswer: (answer: string) => void
  /** An answer counts once: a new number here asks again. */
  attempt: number
}

/** The site's check for robots; nothing where it has none. */
export function BotCheck({ onAnswer, attempt }: BotCheckProps) {
  const { turnstileCheck, turnstileSiteKey } = useStatus()
  const box = useRef<HTMLDivElement>(null)
  const answer = useRef(onAnswer)
  answer.current = onAnswer
  const dark = useIsDark()
  const language = currentLanguage()
  useEffect(() => {
    if (!turnstileCheck) return
    let remove: (() => void) | undefined
    let current = true
    answer.current('')
    const draw = (widget: Widget) => {
      if (!current || !box.current) return
      const id = widget.render(box.current, {
        sitekey: turnstileSiteKey,
        theme: dark ? 'dark' : 'light',
        language: language === 'en' ? 'en' : 'zh-cn',
        size: 'flexible',
        callback: (token: string) => answer.current(token),
        'expired-callback': () => answer.current(''),
        'error-callback': () => answer.current(''),
      })
      remove = () => widget.remove(id)
    }
    // Without the widget the form says that the check has not answered.
    load().then(draw, () => undefined)
    return () => {
      current = false
      remove?.()
    }
  }, [turnstileCheck, turnstileSiteKey, dark, language, attempt])
  return turnstileCheck ? <Box ref={box} minH="65px" /> : null
}
