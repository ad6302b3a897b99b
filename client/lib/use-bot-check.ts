import { useState } from 'react'
import { t } from '../i18n/t.ts'
import { useStatus } from './status.ts'

/** The bot check's answer for one call at a time: each is spent by the call it goes with. */
export function useBotCheck() {
  const { turnstileCheck } = useStatus()
  const [answer, setAnswer] = useState('')
  const [attempt, setAttempt] = useState(0)
  return {
    props: { onAnswer: setAnswer, attempt },
    with: async <Result>(call: (turnstile: string) => Promise<Result>): Promise<Result> => {
      if (turnstileCheck && answer === '') throw new Error(t('请稍后几秒重试，Turnstile 正在检查用户环境！'))
      try {
        return await call(answer)
      } finally {
        if (turnstileCheck) setAttempt((before) => before + 1)
      }
    },
  }
}
