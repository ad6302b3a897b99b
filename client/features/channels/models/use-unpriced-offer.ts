import { useEffect, useState } from 'react'

const pauseMs = 250

/**
 * Models to offer prices for, once the form is gone: a drawer that closes takes along every dialog that was opened while
 * it stood.
 */
export function useUnpricedOffer(isFormOpen: boolean) {
  const [found, setFound] = useState<readonly string[]>()
  const [offered, setOffered] = useState<readonly string[]>()
  useEffect(() => {
    if (!found || isFormOpen) return
    const timer = setTimeout(() => {
      setOffered(found)
      setFound(undefined)
    }, pauseMs)
    return () => clearTimeout(timer)
  }, [found, isFormOpen])
  return {
    offered,
    offer: (models: readonly string[]) => setFound(models.length > 0 ? models : undefined),
    close: () => setOffered(undefined),
  }
}
