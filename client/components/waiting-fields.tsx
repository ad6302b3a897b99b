import { Skeleton, Stack, chakra } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { useLayoutEffect, useRef } from 'react'

/** Dimmed as a whole while they take nothing, and not each of them once more. */
const Fields = chakra('fieldset', {
  base: {
    display: 'flex',
    flexDirection: 'column',
    minW: '0',
    '&:disabled': { opacity: 0.5 },
    '&:disabled :is(:disabled, [data-disabled])': { opacity: 1 },
  },
})

type WaitingFieldsProps = {
  /** What they are to hold is fetched: they would show, and take, what is another record's. */
  isLoading?: boolean
  /** The form goes after its save, with whatever is typed meanwhile. */
  isSaving?: boolean
  gap: '3' | '4' | '6'
  children: ReactNode
}

/** Fields of a drawer or dialog that take nothing while they wait. */
export function WaitingFields({ isLoading = false, isSaving = false, gap, children }: WaitingFieldsProps) {
  const isWaiting = isLoading || isSaving
  const fields = useDisabled(isWaiting)
  return (
    <>
      {isLoading && (
        <Stack gap="5">
          {[0, 1, 2, 3, 4].map((field) => (
            <Skeleton key={field} h="14" />
          ))}
        </Stack>
      )}
      <Fields ref={fields} hidden={isLoading} gap={gap}>
        {children}
      </Fields>
    </>
  )
}

/**
 * Fields that wait cannot have the focus: what they stand in has it until then, or whatever the reader goes to meanwhile. Afterwards it
 * goes to a field that was refused, or back. Not by the attribute: a browser would take it away before anybody knew where it was.
 */
function useDisabled(isWaiting: boolean) {
  const fieldset = useRef<HTMLFieldSetElement>(null)
  const left = useRef<HTMLElement>(undefined)
  useLayoutEffect(() => {
    const fields = fieldset.current
    if (!fields) return
    const dialog = fields.closest<HTMLElement>('[role=dialog], [role=alertdialog]')
    const focused = document.activeElement
    if (isWaiting) {
      if (focused instanceof HTMLElement && fields.contains(focused)) {
        left.current = focused
        dialog?.focus()
      }
      fields.disabled = true
      return
    }
    fields.disabled = false
    const before = left.current
    left.current = undefined
    // The button that was pressed cannot have it either: nothing has it then.
    if (focused !== dialog && focused !== document.body) return
    const refused = fields.querySelector<HTMLElement>('[aria-invalid=true]')
    const next = refused ?? before ?? (focused === dialog ? firstOf(fields) : undefined)
    next?.focus()
  }, [isWaiting])
  return fieldset
}

const firstOf = (fields: HTMLFieldSetElement): HTMLElement | undefined =>
  [...fields.querySelectorAll<HTMLElement>('input, select, textarea, button')].find(
    (field) => field.matches(':enabled') && field.tabIndex >= 0,
  )
