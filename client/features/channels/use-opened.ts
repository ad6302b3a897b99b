import { useCallback } from 'react'
import { useLocation, useRoute } from 'wouter'
import { useUrlState } from '../../lib/url-state.ts'

const nothing = { open: 0, form: '', test: 0, editTag: '' }

type OpenedState = { open: number; form: string; test: number; editTag: string }

/**
 * What stands open beside the list, stored in the address: the panel of a channel, the form (`new` or an id), the test, a
 * tag. The documented addresses of the form, /channel/add and /channel/edit/7, open it too.
 */
export function useOpened() {
  const [state, open] = useUrlState(nothing, [], Object.keys(nothing))
  const [, navigate] = useLocation()
  const [isAdd] = useRoute('/channel/add')
  const [, edited] = useRoute('/channel/edit/:id')
  const fromPath = isAdd ? 'new' : (edited?.id ?? '')
  const form = fromPath || state.form
  const closeForm = useCallback(() => {
    if (fromPath) navigate('/admin/channels', { replace: true })
    else open({ form: '' })
  }, [fromPath, navigate, open])
  return { state: { ...state, form } satisfies OpenedState, open, closeForm }
}
