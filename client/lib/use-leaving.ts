import { useEffect, useState } from 'react'

/** Whether the reader is on the way to another site. Not any more where they come back to the page as the browser kept it. */
export function useLeaving() {
  const [leaving, setLeaving] = useState(false)
  useEffect(() => {
    const showAgain = ({ persisted }: PageTransitionEvent) => {
      if (persisted) setLeaving(false)
    }
    window.addEventListener('pageshow', showAgain)
    return () => window.removeEventListener('pageshow', showAgain)
  }, [])
  return [leaving, setLeaving] as const
}
