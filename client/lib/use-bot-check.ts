import { useState } from 'react'
import { t } from '../i18n/t.ts'
import { useStatus } from './status.ts'

/** The bot check's answer for one call at a time: each is spent by the call it goes with. */
export function useBotCheck() {
  const { turnstileCheck } = useStatus()
  const [answer, setAnswer] = useState('')
  const [isMissing, setMissing] = useState(false)
  const [attempt, setAttempt] = useState(0)
  const askAgain = () => setAttempt((before) => before + 1)
  return {
    props: { onAnswer: setAnswer, onMissing: setMissing, attempt },
    with: async <Result>(call: (turnstile: string) => Promise<Result>): Promise<Result> => {
      if (turnstileCheck && isMissing) {
        askAgain()
        throw new Error(t('人机验证没有加载成功，正在重新加载，请稍后重试。'))
      }
      if (turnstileCheck && answer === '') throw new Error(t('请稍后几秒重试，Turnstile 正在检查用户环境！'))
      try {
        return await call(answer)
      } finally {
        if (turnstileCheck) askAgain()
      }
    },
  }
}
