import { useEffect, useState } from 'react'

/**
 * Fills a form once for each record that is opened; `values` may come later. Resolves with what it was filled with, which a
 * save is compared with: a refresh while the form is open neither undoes what was typed nor moves that. Nothing of what was typed
 * for another record is taken along.
 */
export function useFilled<Values>(
  reset: (values: Values, options: { keepDirtyValues: false }) => void,
  id: number | string | undefined,
  values: Values | undefined,
): Values | undefined {
  const [filled, setFilled] = useState<{ id: number | string; values: Values }>()
  useEffect(() => {
    if (id === undefined) setFilled(undefined)
    else if (id !== filled?.id && values !== undefined) {
      reset(values, { keepDirtyValues: false })
      setFilled({ id, values })
    }
  }, [id, filled, values, reset])
  return filled?.id === id ? filled?.values : undefined
}
