import { chakra } from '@chakra-ui/react'
import { formatAge, formatExactTime, formatTime } from '../../lib/format.ts'
import { useNow } from '../../lib/now.ts'
import { None } from './numbers.tsx'

const Moment = chakra('time', { base: { fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' } })

type TimeProps = {
  value: Date | null | undefined
  /** The date and time themselves, where rows are compared by them; `short` leaves out the year that it is. */
  exact?: boolean | 'short'
  /** It is still to come. */
  ahead?: boolean
}

/** How long ago or ahead; the exact time and its zone on hover. */
export function Time({ value, exact = false, ahead = false }: TimeProps) {
  const now = useNow()
  if (!value || Number.isNaN(value.getTime())) return <None />
  const words = exact ? formatTime(value) : formatAge(value, now, ahead)
  const isThisYear = exact === 'short' && value.getFullYear() === now.getFullYear()
  return (
    <Moment dateTime={value.toISOString()} data-tip={formatExactTime(value)}>
      {isThisYear ? words.slice(words.indexOf('-') + 1) : words}
    </Moment>
  )
}
