import { useState } from 'react'
import type { RouterOutputs } from '#server/app-router.ts'
import { useUrlState } from '../../lib/url-state.ts'

export type Token = RouterOutputs['user']['tokens']['list']['items'][number]
export type Cap = RouterOutputs['user']['spendCaps']['list'][number]
/** Just made: its key is at hand. */
export type FreshToken = RouterOutputs['user']['tokens']['createMany'][number]

/** Which drawer is open, stored in the address; what was just made is only kept by the page. */
export function useOpenToken() {
  const [state, set] = useUrlState({ form: '', use: 0 }, [], ['form', 'use'])
  const [fresh, setFresh] = useState<readonly FreshToken[]>([])
  const edited = Number(state.form)
  return {
    /** 0 while a new one is made, undefined while the form is closed. */
    edited: state.form === 'new' ? 0 : edited > 0 ? edited : undefined,
    /** Whose key and settings are shown. */
    used: state.use > 0 ? state.use : undefined,
    fresh,
    create: () => set({ form: 'new', use: 0 }),
    edit: (token: Token) => set({ form: String(token.id), use: 0 }),
    use: (token: Token) => set({ use: token.id, form: '' }),
    show: (tokens: readonly FreshToken[]) => {
      setFresh(tokens)
      set({ use: tokens[0]?.id ?? 0 }, { replace: true })
    },
    closeForm: () => set({ form: '' }),
    closeUse: () => {
      setFresh([])
      set({ use: 0 })
    },
  }
}

export type OpenToken = ReturnType<typeof useOpenToken>
