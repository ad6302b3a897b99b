import { useEffect, useRef } from 'react'

type Answer<Data> = { data: Data | undefined; isPlaceholderData?: boolean }

/**
 * A refresh that asks anew, with another moment as its beginning, and fails leaves what was shown: the last answer to the
 * same question. One to another question is not shown in its place.
 */
export function useLastAnswer<Data>({ data, isPlaceholderData }: Answer<Data>, question: string): Data | undefined {
  const last = useRef<{ question: string; data: Data }>(undefined)
  useEffect(() => {
    if (data !== undefined && !isPlaceholderData) last.current = { question, data }
  }, [data, isPlaceholderData, question])
  return data ?? (last.current?.question === question ? last.current.data : undefined)
}
