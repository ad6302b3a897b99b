import { useEffect, useReducer } from 'react'
import { t } from '../i18n/t.ts'
import { notify } from './notify.ts'

/**
 * With a network the file has gone with an upgrade, or did not come before: browsers remember that as long as the page stands. What was
 * typed on it is not given up for that without being asked.
 */
export function reportMissing(error: unknown): void {
  if (!navigator.onLine) return notify.error(error)
  notify.warning(t('无法打开，刷新页面后再试'), {
    action: { label: t('刷新页面'), onClick: () => window.location.reload() },
  })
}

/**
 * A menu, a dialog: what a page shows only when somebody wants it, and fetches then. Unlike `lazy`, of which a file that does not
 * come takes away all that is around it.
 */
export function fetchedPart<Part>(load: () => Promise<Part>) {
  let part: Part | undefined
  const fetch = async (): Promise<Part> => (part ??= await load())
  return {
    /** Ahead of the click. Not without a network: the click itself would find that it did not come. */
    preload: (): void => {
      if (navigator.onLine) void fetch().catch(() => undefined)
    },
    /** Undefined until it has come. Where it does not, a toast says so, and `onMissing` takes back what was asked for. */
    usePart: (isWanted: boolean, onMissing: () => void): Part | undefined => {
      const [, draw] = useReducer((drawn: number) => drawn + 1, 0)
      const shown = part
      useEffect(() => {
        if (!isWanted || shown !== undefined) return undefined
        let isGone = false
        fetch().then(
          () => isGone || draw(),
          (error: unknown) => {
            if (isGone) return
            reportMissing(error)
            onMissing()
          },
        )
        return () => {
          isGone = true
        }
        // What takes it back may be new with every drawing.
        // eslint-disable-next-line react-hooks/exhaustive-deps
      }, [isWanted, shown])
      return shown
    },
  }
}
