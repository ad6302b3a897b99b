import { useEffect } from 'react'
import { useStatus } from './status.ts'

/** The window's title: the page, then the site. */
export function useDocumentTitle(title: string): void {
  const { systemName } = useStatus()
  useEffect(() => {
    document.title = [title, systemName].filter(Boolean).join(' · ')
  }, [title, systemName])
}
