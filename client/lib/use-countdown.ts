import { useEffect, useState } from 'react'

/** So long nobody asks for another mail. */
export const resendSeconds = 30

/** Seconds that are left until something may be done again; zero when it may. */
export function useCountdown(): [left: number, start: (seconds: number) => void] {
  const [left, setLeft] = useState(0)
  const counting = left > 0
  useEffect(() => {
    if (!counting) return
    const timer = setInterval(() => setLeft((before) => Math.max(0, before - 1)), 1000)
    return () => clearInterval(timer)
  }, [counting])
  return [left, setLeft]
}
